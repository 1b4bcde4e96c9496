"""What carries the difference of two texts: the choice of what is patched, and why it cannot be."""

from functools import partial

import streamlit as st

from explorer.app import comparisons
from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.widgets.messages import show_error
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import COMPARE, Request
from explorer.core.section_questions import PATCHED_SITES
from explorer.heads.patching.patching_result import PatchedTexts
from explorer.model.catalog import CatalogModel


def choose_patched(language: str) -> None:
    """Draw the choice of what is patched; nothing is at first, since it takes seconds."""
    key = session.shown_as("patched-sites", language, heads_state.asked(COMPARE) or None)
    with st.container(key="patched"):
        st.segmented_control(
            say("heads.patched", language),
            PATCHED_SITES,
            format_func=lambda sites: say(f"heads.patched_{sites}", language),
            key=key,
            on_change=partial(session.read_choice, key, partial(heads_state.ask, COMPARE)),
            help=say("heads.patched_title", language),
        )


def patched(
    member: CatalogModel, request: Request, text: str, language: str
) -> PatchedTexts | None:
    """What the chosen values of the text of `request` restore in `text`. None if nothing is chosen
    and, with a sentence here, if it cannot be computed."""
    sites = heads_state.asked(COMPARE)
    if not sites:
        return None
    with st.container(key="patched-result"):
        try:
            with st.spinner(say("heads.patching", language), show_time=True):
                return comparisons.patched(member, request, text, sites)
        except ExplorerError as error:
            show_error(error, language)
            return None
