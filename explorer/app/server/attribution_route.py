"""The route that serves the parts of heads in the choice of each token, computed when a visitor
chooses to see them."""

from collections.abc import Hashable

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.offered_traces import Compute, OfferedTraces, computed
from explorer.core.trace import Trace

PATH = "/attribution/{trace}"

_offered = OfferedTraces[Compute]()


def offer(name: Hashable, trace: Trace, attribute: Compute) -> str:
    """The address at which the parts of heads in `trace` are served, relative to the page's.

    attribute: makes the payload of `attribution_payload`.
    """
    return f"attribution/{_offered.add(name, trace, attribute)}"


def serve_attribution(request: Request) -> Response:
    """The parts of heads in a trace; 404 for a trace that is not there (any more)."""
    return computed(request, _offered)
