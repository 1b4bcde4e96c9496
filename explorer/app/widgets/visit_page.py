"""What Explore and Heads, the pages that show the visit, have in common: follow the URL. For Heads,
open the chosen model and trace the requested text; on Explore the browser asks for it.

If the model cannot be opened, the previous picture is shown. If the text is refused, another text
of the same model is shown and named. If the model has none, nothing is shown.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.state import address_bar, visitor
from explorer.app.state import heads as heads_state
from explorer.app.state import lesson as lesson_state
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import visitor_catalog
from explorer.app.widgets.messages import literal, report, show_error
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import Look, Request
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten
from explorer.model.catalog import TRAIN_COMMAND, CatalogMember

_TRAIN = Path(__file__).parents[1] / "views" / "train.py"


def visit_page(name: str, draw: Callable[[], None]) -> None:
    """Follow the URL and `draw` the page called `name`. Without any model, say how to get one.

    Call it in whole runs of the script only; see `address_bar.follow`.
    """
    if address_bar.enter(name):
        heads_state.forget_initial()
        lesson_state.leave_train()
    catalog = visitor_catalog()
    if not catalog:
        command = literal(TRAIN_COMMAND)
        st.info(say("explore.no_models", visitor.language(), command=command))
        return
    address_bar.follow(catalog)
    open_training_lesson()
    draw()


def open_training_lesson() -> None:
    """Go to the page Train if the lesson that was just chosen is followed there."""
    if lesson_state.is_in_train():
        address_bar.open_query(_TRAIN, lesson_state.query())


class ShownInsteadError(ExplorerError):
    """The model cannot be opened, or refuses the text; names what is shown instead."""

    section: ClassVar[str] = "explore"


def open_model(
    member: CatalogMember,
    offered: Mapping[str, CatalogMember],
    before: Iterable[Look],
    language: str,
    messages: DeltaGenerator,
) -> bool:
    """Open `member`, the chosen model. Returns whether it can be used.

    before: visits to show instead if it cannot be opened, best first; the page is then drawn again,
        with the reason.
    """
    if not member.can_trace or member.is_own or model_cache.opened(member) is not None:
        return True
    about = literal(say("explore.opening", language, name=member.name))
    try:
        with messages, st.spinner(about, show_time=True):
            model_cache.model_of(member)
    except ExplorerError as error:
        for visit in before:
            if visit.request.model != member.name and visit.request.model in offered:
                named = {"reason": error, "model": offered[visit.request.model].name}
                report(ShownInsteadError("shown_instead", **named))
                visit_state.return_to(visit)
                st.rerun()
        show_error(error, language, messages)
        return False
    return True


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
        from explorer.app.widgets.intervention_editor import named_as_here  # late: with pandas

        reason = named_as_here(error, language)
    for request in _substitutes(wanted, on_screen, visit_state.initial_request(member)):
        with suppress(ExplorerError):
            trace = model_cache.trace(member, request)
            show_error(_named(reason, wanted, request, language), language, messages)
            return request, trace
    show_error(reason, language, messages)
    return None


def _substitutes(wanted: Request, on_screen: Request, initial: Request) -> list[Request]:
    """Requests of the same model, best first: the one on screen if its text is the same, the text
    without changes, the text as the model itself reads it, the request on screen, and the
    model's initial request."""
    free = wanted.unchanged()
    plain = replace(free, reading=initial.reading)
    same_text = on_screen.unchanged() == free
    order = (on_screen, free, plain, initial) if same_text else (free, plain, on_screen, initial)
    return [one for one in dict.fromkeys(order) if one.model == wanted.model and one != wanted]


def _named(reason: ExplorerError, wanted: Request, shown: Request, language: str) -> ExplorerError:
    """The reason, naming the request shown if it differs by text or padding."""
    if shown.unchanged() == wanted.unchanged():
        return reason
    texts = {"text": shorten(shown.text), "pair": shorten(shown.pair or "")}
    text = say("explore.shown_pair" if shown.pair else "explore.shown_text", language, **texts)
    if shown.pad != wanted.pad:
        padding = say("explore.pad_choice", language, count=shown.pad)
        text = say("explore.shown_padding", language, text=text, padding=padding)
    return ShownInsteadError("shown_text_of", reason=reason, text=text, model=shown.model)
