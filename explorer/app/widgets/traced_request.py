"""The trace that the visitor asks for.

If it is refused, another text of the same model is shown and named. If the model has none, nothing
is shown.
"""

from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.state import visit as visit_state
from explorer.app.widgets.messages import show_error
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten
from explorer.model.catalog import CatalogMember


class RefusedRequestError(ExplorerError):
    """The chosen model refuses the text; names the text shown instead."""

    section: ClassVar[str] = "explore"


def traced_request(
    member: CatalogMember,
    wanted: Request,
    on_screen: Request,
    language: str,
    messages: DeltaGenerator,
) -> tuple[Request, Trace] | None:
    """The request to show, and its trace: `wanted`, or another text of its model, with the reason.
    None if the model has no trace to show.

    on_screen: the request on screen, perhaps of another model.
    """
    try:
        return wanted, model_cache.trace(member, wanted)
    except ExplorerError as error:
        reason = error
    for request in _substitutes(wanted, on_screen, visit_state.initial_request(member)):
        with suppress(ExplorerError):
            trace = model_cache.trace(member, request)
            show_error(_named(reason, wanted, request, language), language, messages)
            return request, trace
    show_error(reason, language, messages)
    return None


def _substitutes(wanted: Request, on_screen: Request, initial: Request) -> list[Request]:
    """Requests of the same model, best first: the one on screen if its text is the same, the text
    without forced tokens, the text as the model itself reads it, the request on screen, and the
    model's initial request."""
    free = wanted.without_forced()
    plain = replace(free, reading=initial.reading)
    same_text = on_screen.without_forced() == free
    order = (on_screen, free, plain, initial) if same_text else (free, plain, on_screen, initial)
    return [one for one in dict.fromkeys(order) if one.model == wanted.model and one != wanted]


def _named(reason: ExplorerError, wanted: Request, shown: Request, language: str) -> ExplorerError:
    """The reason, naming the request shown if it differs by text or padding."""
    if replace(shown, forced=()) == wanted.without_forced():
        return reason
    texts = {"text": shorten(shown.text), "pair": shorten(shown.pair or "")}
    text = say("explore.shown_pair" if shown.pair else "explore.shown_text", language, **texts)
    if shown.pad != wanted.pad:
        padding = say("explore.pad_choice", language, count=shown.pad)
        text = say("explore.shown_padding", language, text=text, padding=padding)
    return RefusedRequestError("shown_text_of", reason=reason, text=text, model=shown.model)
