"""Open the chosen model with a message if it takes seconds. If that fails, show the previous
picture."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.state import visit as visit_state
from explorer.app.widgets.messages import literal, report, show_error
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import Look
from explorer.model.catalog import CatalogMember


class RefusedModelError(ExplorerError):
    """The model cannot be opened; names the model shown instead."""

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
                report(RefusedModelError("shown_instead", **named))
                visit_state.return_to(visit)
                st.rerun()
        show_error(error, language, messages)
        return False
    return True
