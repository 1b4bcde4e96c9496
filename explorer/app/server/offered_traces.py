"""Traces on screen of which a route computes more when a visitor asks for it.

As in `head_route.py`, only those know the address of a trace to whom the server has shown it, and a
trace is offered as long as it is in a cache.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.head_route import trace_key
from explorer.app.server.rate_limit import charged_for
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace

Compute = Callable[[Trace], bytes | None]
"""A payload, compressed with gzip, of more than a trace holds; None where its model is no longer in
memory. Called from any thread."""

_MAX_AGE = 3600  # seconds
_Means = TypeVar("_Means")


class OfferedTraces(Generic[_Means]):
    """Traces and, for each, what more is computed with."""

    def __init__(self) -> None:
        self._means: WeakKeyDictionary[Trace, _Means] = WeakKeyDictionary()
        self._traces: WeakValueDictionary[str, Trace] = WeakValueDictionary()

    def add(self, name: Hashable, trace: Trace, means: _Means) -> str:
        """The key of `trace` in addresses.

        name: as in `head_route.offer`.
        """
        key = trace_key(name)
        self._means[trace] = means
        self._traces[key] = trace
        return key

    def find(self, key: str) -> tuple[Trace, _Means] | None:
        """The trace with this key; None for one that is not there (any more)."""
        trace = self._traces.get(key)
        return None if trace is None else (trace, self._means[trace])


def answered(request: Request, compute: Callable[[], bytes | None]) -> Response:
    """What `compute` returns; 404 where that is None or it raises `ExplorerError`, as for a trace
    that would be too large, and 429 for a guest over the limit."""
    with charged_for(request) as admitted:
        if not admitted:
            return refused(429)
        try:
            data = compute()
        except ExplorerError:
            return refused(404)
    if data is None:
        return refused(404)
    headers = {"Cache-Control": f"private, max-age={_MAX_AGE}", "Content-Encoding": "gzip"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def computed(request: Request, offered: OfferedTraces[Compute]) -> Response:
    """What is computed of the trace that a URL names; 404 for one that is not there (any more)."""
    found = offered.find(request.path_params["trace"])
    if found is None:
        return refused(404)
    trace, compute = found
    return answered(request, lambda: compute(trace))


def refused(status: int) -> Response:
    """An answer without content, which no browser keeps."""
    return Response(status_code=status, headers={"Cache-Control": "no-store"})
