"""The route that serves what the weights of a head are computed from, when a visitor looks inside.

Traces on screen hold weights alone. One layer of one attention path is captured again, in full, and
kept with the other traces. As in `head_route.py`, only those know the address of a trace to whom
the server has shown it, and a trace is offered as long as it is in a cache.
"""

import re
from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server import access
from explorer.app.server.head_route import trace_key
from explorer.app.server.page_limit import charged_to
from explorer.components.inside.head_vectors import head_vectors
from explorer.core.errors import ExplorerError
from explorer.core.sites import SITES
from explorer.core.trace import Trace, is_index

PATH = "/inside/{trace}/{site}/{layer}/{head}"

CaptureLayer = Callable[[str, int], Trace | None]
"""From an attention path and the index of a layer among those of the trace: a trace of that layer
alone, with full capture; None where the model is no longer in memory. Raises `ExplorerError`."""

_MAX_AGE = 3600  # seconds
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_captures: WeakKeyDictionary[Trace, CaptureLayer] = WeakKeyDictionary()
_offered: WeakValueDictionary[str, Trace] = WeakValueDictionary()


def offer(name: Hashable, trace: Trace, capture: CaptureLayer) -> str:
    """The address below which the heads of `trace` are served, relative to the page's.

    name: as in `head_route.offer`.
    """
    key = trace_key(name)
    _captures[trace] = capture
    _offered[key] = trace
    return f"inside/{key}"


def serve_vectors(request: Request) -> Response:
    """The payload of `head_vectors` for one head; 404 for what is not there (any more)."""
    parts = request.path_params
    trace = _offered.get(parts["trace"])
    place = _place(trace, parts["site"], parts["layer"], parts["head"])
    if trace is None or place is None:
        return _refused(404)
    site, layer, head = place
    visitor = request.client.host if request.client and access.is_class_mode() else None
    with charged_to(visitor) as admitted:
        if not admitted:
            return _refused(429)
        try:
            captured = _captures[trace](site, layer)
        except ExplorerError:  # as of a trace that would be too large
            return _refused(404)
        if captured is None:
            return _refused(404)
        data = head_vectors(captured, site, 0, head)
    headers = {"Cache-Control": f"private, max-age={_MAX_AGE}", "Content-Encoding": "gzip"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def _place(trace: Trace | None, site: str, layer: str, head: str) -> tuple[str, int, int] | None:
    """The head that a URL names; None where the trace has none such."""
    if trace is None or site not in SITES or site not in trace.sites:
        return None
    if not _NUMBER.fullmatch(layer) or not _NUMBER.fullmatch(head):
        return None
    layers, heads = trace.attention(site).shape[:2]
    known = is_index(int(layer), layers) and is_index(int(head), heads)
    return (site, int(layer), int(head)) if known else None


def _refused(status: int) -> Response:
    return Response(status_code=status, headers={"Cache-Control": "no-store"})
