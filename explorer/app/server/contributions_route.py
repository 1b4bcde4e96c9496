"""The route that serves what the keys of a trace contribute, computed when a visitor chooses it.

As in `head_route.py`, only those know the address of a trace to whom the server has shown it, and a
trace is offered as long as it is in a cache.
"""

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server import access
from explorer.app.server.head_route import trace_key
from explorer.app.server.page_limit import charged_to
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace

PATH = "/contributions/{trace}"

Contribute = Callable[[Trace], bytes | None]
"""The payload of `contributions_payload` for a trace; None where its model is no longer in memory.
Called from any thread."""

_MAX_AGE = 3600  # seconds
_computations: WeakKeyDictionary[Trace, Contribute] = WeakKeyDictionary()
_offered: WeakValueDictionary[str, Trace] = WeakValueDictionary()


def offer(name: Hashable, trace: Trace, contribute: Contribute) -> str:
    """The address at which the contributions in `trace` are served, relative to the page's.

    name: as in `head_route.offer`.
    """
    key = trace_key(name)
    _computations[trace] = contribute
    _offered[key] = trace
    return f"contributions/{key}"


def serve_contributions(request: Request) -> Response:
    """What the keys of a trace contribute; 404 for a trace that is not there (any more)."""
    trace = _offered.get(request.path_params["trace"])
    if trace is None:
        return _refused(404)
    visitor = request.client.host if request.client and access.is_class_mode() else None
    with charged_to(visitor) as admitted:
        if not admitted:
            return _refused(429)
        try:
            data = _computations[trace](trace)
        except ExplorerError:
            return _refused(404)
    if data is None:
        return _refused(404)
    headers = {"Cache-Control": f"private, max-age={_MAX_AGE}", "Content-Encoding": "gzip"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def _refused(status: int) -> Response:
    return Response(status_code=status, headers={"Cache-Control": "no-store"})
