"""The route that serves what the keys of a trace contribute, computed when a visitor chooses it."""

from collections.abc import Hashable

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.offered_traces import Compute, OfferedTraces, computed
from explorer.core.trace import Trace

PATH = "/contributions/{trace}"

_offered = OfferedTraces[Compute]()


def offer(name: Hashable, trace: Trace, contribute: Compute) -> str:
    """The address at which the contributions in `trace` are served, relative to the page's.

    contribute: makes the payload of `contributions_payload`.
    """
    return f"contributions/{_offered.add(name, trace, contribute)}"


def serve_contributions(request: Request) -> Response:
    """What the keys of a trace contribute; 404 for a trace that is not there (any more)."""
    return computed(request, _offered)
