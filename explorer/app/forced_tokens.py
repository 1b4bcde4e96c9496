"""The part of the player's view that concerns tokens a visitor forced."""

from contextlib import suppress

from explorer.app import model_cache
from explorer.app.server.rate_limit import RateLimitError
from explorer.components.player.payload import View
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember


def forced_view(member: CatalogMember, request: Request, trace: Trace) -> View:
    """View with the forced tokens of `request` and the greedy output, if that can be computed."""
    if not request.forced:
        return View()
    taken, original = _taken(trace), tuple[str, ...]()
    with suppress(RateLimitError):
        original = model_cache.trace(member, request.without_forced()).predicted_tokens
    return View(forced=tuple((step, taken[step]) for step, _ in request.forced), original=original)


def _taken(trace: Trace) -> dict[int, str]:
    """Step → label of the token chosen there. Mask tokens have steps, too."""
    if trace.predicted_tokens:
        return dict(enumerate(trace.predicted_tokens, start=1))
    steps = trace.steps()
    chosen = steps[steps.chosen.astype(bool)]
    return dict(zip(chosen.step.tolist(), chosen.token.tolist(), strict=True))
