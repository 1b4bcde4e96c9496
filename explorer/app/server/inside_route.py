"""The routes that serve what a visitor sees inside: what the weights of a head are computed from,
the path of a token through its layer, and the head without a part of the model.

Traces on screen hold weights alone. One layer of one attention path is captured again, in full, and
kept with the other traces.
"""

import re
from collections.abc import Callable, Hashable

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.offered_traces import OfferedTraces, answered, refused
from explorer.components.inside.head_vectors import head_vectors
from explorer.components.inside.omission import omission
from explorer.components.inside.page_parts import CaptureLayer
from explorer.components.inside.token_path import has_token_path, token_path
from explorer.core.interventions import OMISSIONS
from explorer.core.sites import SITES
from explorer.core.trace import Trace, is_index

HEAD_PATH = "/inside/{trace}/{site}/{layer}/{head}"
LAYER_PATH = "/inside/{trace}/{site}/{layer}"
OMISSION_PATH = "/inside/{trace}/{site}/{layer}/{head}/without/{part}"

_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_offered = OfferedTraces[CaptureLayer]()


def offer(name: Hashable, trace: Trace, capture: CaptureLayer) -> str:
    """The address below which the heads of `trace` are served, relative to the page's.

    name: as in `head_route.offer`.
    """
    return f"inside/{_offered.add(name, trace, capture)}"


def serve_vectors(request: Request) -> Response:
    """The payload of `head_vectors` for one head; 404 for what is not there (any more)."""
    head = request.path_params["head"]
    return _serve(request, head, lambda trace, site: head_vectors(trace, site, 0, int(head)))


def serve_omission(request: Request) -> Response:
    """The payload of `omission` for one head of the model without a part; 404 as the others."""
    head, part = request.path_params["head"], request.path_params["part"]
    if part not in OMISSIONS:
        return refused(404)

    def payload(trace: Trace, site: str) -> bytes:
        return omission(trace, site, int(head))

    return _serve(request, head, payload, has_token_path, without=(part,))


def serve_token_path(request: Request) -> Response:
    """The payload of `token_path` for one layer; 404 for what is not there (any more), and for a
    model whose path is not captured."""
    return _serve(request, "0", token_path, has_token_path)


def _serve(
    request: Request,
    head: str,
    payload: Callable[[Trace, str], bytes],
    has: Callable[[Trace], bool] = lambda trace: True,
    without: tuple[str, ...] = (),
) -> Response:
    """What `payload` makes of the layer that a URL names, captured in full, and the site."""
    parts = request.path_params
    found = _offered.find(parts["trace"])
    if found is None:
        return refused(404)
    trace, capture = found
    place = _place(trace, parts["site"], parts["layer"], head)
    if place is None or not has(trace):
        return refused(404)

    def compute() -> bytes | None:
        captured = capture(*place, without)
        return None if captured is None else payload(captured, place[0])

    return answered(request, compute)


def _place(trace: Trace, site: str, layer: str, head: str) -> tuple[str, int] | None:
    """The layer that a URL names; None where the trace has no such head in one such."""
    if site not in SITES or site not in trace.sites:
        return None
    if not _NUMBER.fullmatch(layer) or not _NUMBER.fullmatch(head):
        return None
    layers, heads = trace.attention(site).shape[:2]
    known = is_index(int(layer), layers) and is_index(int(head), heads)
    return (site, int(layer)) if known else None
