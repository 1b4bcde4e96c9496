"""The row of controls on Explore and Heads: model, text and padding."""

import random
from collections.abc import Mapping

import streamlit as st

from explorer.app.request import MOST_PADDING, Request
from explorer.app.state import explore as explore_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.model import examples
from explorer.model.catalog import Entry, describe


def input_bar(catalog: Mapping[str, Entry], language: str) -> None:
    """Model, Source, Random, Examples and Pad; they show the visit's request."""
    request = visit_state.current().request
    entry = catalog[request.model]
    _choose_model(request.model, catalog, language)
    _type_source(request.text, entry, language)
    _offer_texts(entry, language)
    _choose_padding(request.pad, entry, language)


def hint(entry: Entry, request: Request, language: str) -> None:
    """What to look at in an example, and whose data the model was trained on; main.css puts it
    into the header, where the picture loses no height."""
    text, credit = examples.hint(entry.name, request.text, language), entry.credit
    if text or credit:
        with st.container(key="hint"):
            st.caption(literal(text or credit), help=literal(credit) if text and credit else None)


def _choose_model(name: str, catalog: Mapping[str, Entry], language: str) -> None:
    key = session.shown_as("model", language, name)
    st.selectbox(
        say("explore.model", language),
        list(catalog),
        format_func=lambda name: describe(catalog[name], language),
        key=key,
        on_change=lambda: visit_state.choose_model(session.widget_value(key), catalog),
        label_visibility="collapsed",
    )


def _type_source(text: str, entry: Entry, language: str) -> None:
    label = say("explore.source", language)
    if entry.trace is not None:
        tokens = " ".join(entry.trace.source_tokens)
        st.text_input(label, tokens, disabled=True, label_visibility="collapsed")
        return
    key = session.shown_as("source", language, text)
    st.text_input(
        label,
        key=key,
        on_change=lambda: explore_state.submit_text(session.widget_value(key)),
        placeholder=_source_hint(entry, language),
        autocomplete="off",
        label_visibility="collapsed",
    )


def _source_hint(entry: Entry, language: str) -> str:
    """What may be typed, shown in the empty box."""
    if entry.sentences:
        return say("explore.sentence_hint", language)
    return say("explore.source_hint", language, known=" ".join(entry.symbols))


def _offer_texts(entry: Entry, language: str) -> None:
    is_trace = entry.trace is not None
    st.button(
        say("explore.random", language),
        key="random",
        on_click=lambda: visit_state.set_text(entry.random_text(random.Random())),
        disabled=is_trace,
    )
    st.menu_button(
        say("explore.examples", language),
        entry.examples,
        key=session.EXAMPLES,
        on_click=_take_example,
        disabled=is_trace,
    )


def _take_example() -> None:
    if text := session.widget_value(session.EXAMPLES):
        visit_state.set_text(str(text))


def _choose_padding(count: int, entry: Entry, language: str) -> None:
    key = session.shown_as("pad", language, count)
    st.selectbox(
        say("explore.pad", language),
        range(MOST_PADDING + 1),
        format_func=lambda count: say("explore.pad_choice", language, count=count),
        key=key,
        on_change=lambda: visit_state.set_padding(int(session.widget_value(key))),
        disabled=entry.trace is not None,
        label_visibility="collapsed",
        width=112,
    )
