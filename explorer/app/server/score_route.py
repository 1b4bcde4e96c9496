"""The route that serves what the scores of a head are summed of, computed when a visitor asks why a
head looks at a key."""

import re
from collections.abc import Callable, Hashable

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.offered_traces import OfferedTraces, answered, refused
from explorer.core.sites import SITES, Head
from explorer.core.trace import Trace

PATH = "/score/{trace}/{site}/{layer}/{head}"

Split = Callable[[Trace, Head], bytes | None]
"""The payload of `score_vectors` for a head; None where the model is no longer in memory. Raises
`TraceError` on a head that does not exist. Called from any thread."""

_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_offered = OfferedTraces[Split]()


def offer(name: Hashable, trace: Trace, split: Split) -> str:
    """The address below which the scores of heads of `trace` are served, relative to the page's."""
    return f"score/{_offered.add(name, trace, split)}"


def serve_score(request: Request) -> Response:
    """What the scores of one head are summed of; 404 for what is not there (any more)."""
    parts = request.path_params
    found = _offered.find(parts["trace"])
    numbers = [parts["layer"], parts["head"]]
    if found is None or parts["site"] not in SITES or not all(map(_NUMBER.fullmatch, numbers)):
        return refused(404)
    trace, split = found
    head = Head(parts["site"], *map(int, numbers))
    return answered(request, lambda: split(trace, head))
