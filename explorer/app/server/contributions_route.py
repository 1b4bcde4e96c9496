"""The route that serves what the keys of a trace contribute by one method, computed when a visitor
chooses it."""

from collections.abc import Callable, Hashable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.offered_traces import OfferedTraces, answered, refused
from explorer.core.look import SHOWN_MAPS
from explorer.core.trace import Trace

PATH = "/contributions/{trace}/{method}"

Contribute: TypeAlias = Callable[[Trace, str], bytes | None]
"""The payload of `contributions_payload` by one of `SHOWN_MAPS`, as `Compute`."""

_offered = OfferedTraces[Contribute]()


def offer(name: Hashable, trace: Trace, contribute: Contribute) -> str:
    """The address, relative to the page's, below which the contributions in `trace` are served by
    the name of their method."""
    return f"contributions/{_offered.add(name, trace, contribute)}"


def serve_contributions(request: Request) -> Response:
    """What the keys of a trace contribute; 404 for a method that does not exist, and for a trace
    that is not there (any more)."""
    method, found = request.path_params["method"], _offered.find(request.path_params["trace"])
    if found is None or method not in SHOWN_MAPS:
        return refused(404)
    trace, contribute = found
    return answered(request, lambda: contribute(trace, method))
