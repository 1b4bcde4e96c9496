"""The row of controls on Explore: what is to be traced."""

import random
from collections.abc import Mapping
from functools import partial

import streamlit as st

from explorer.app.permalink import MOST_PADDING
from explorer.app.state import explore as explore_state
from explorer.app.widgets.messages import plain
from explorer.core.i18n import say
from explorer.model import examples
from explorer.model.catalog import CatalogMember, CatalogModel, UploadedTrace, describe


def controls(shelf: Mapping[str, CatalogMember], language: str) -> None:
    """Model, Source, Random, Examples and Pad; they show the session's request."""
    entry = shelf[st.session_state[explore_state.MODEL]]
    _choose_model(shelf, language)
    _type_source(entry, language)
    _offer_texts(entry, language)
    _choose_padding(entry, language)


def _choose_model(shelf: Mapping[str, CatalogMember], language: str) -> None:
    key = explore_state.widget_key(explore_state.MODEL, language)
    st.selectbox(
        say("explore.model", language),
        list(shelf),
        format_func=lambda name: describe(shelf[name], language),
        key=key,
        on_change=partial(explore_state.pick_model, key, shelf),
        label_visibility="collapsed",
    )


def _type_source(entry: CatalogMember, language: str) -> None:
    label = say("explore.source", language)
    if isinstance(entry, UploadedTrace):
        text = " ".join(entry.trace.source_tokens)
        st.text_input(label, text, disabled=True, label_visibility="collapsed")
        return
    key = explore_state.widget_key(explore_state.SOURCE, language)
    st.text_input(
        label,
        key=key,
        on_change=partial(explore_state.submit, key),
        placeholder=_source_hint(entry, language),
        autocomplete="off",
        label_visibility="collapsed",
    )


def _source_hint(entry: CatalogModel, language: str) -> str:
    """What may be typed, told by an empty box."""
    if entry.summary.reads_sentences:
        return say("explore.sentence_hint", language)
    return say("explore.source_hint", language, known=" ".join(entry.summary.symbols))


def advise(entry: CatalogMember, text: str, language: str) -> None:
    """What to look at in a text that stands among the examples, and whose data taught the
    model: in the header, where it takes no room from the picture."""
    if isinstance(entry, UploadedTrace):
        return
    hint, credit = examples.hint(entry.name, text, language), entry.summary.credit
    if hint or credit:
        with st.container(key="advice"):
            st.caption(plain(hint or credit), help=plain(credit) if hint and credit else None)


def _offer_texts(entry: CatalogMember, language: str) -> None:
    model = entry if isinstance(entry, CatalogModel) else None
    st.button(
        say("explore.random", language),
        key="random",
        on_click=lambda: explore_state.ask(model.random_text(random.Random()) if model else ""),
        disabled=model is None,
    )
    st.menu_button(
        say("explore.examples", language),
        model.examples if model else ("",),  # a menu needs an option
        key=explore_state.EXAMPLES,
        on_click=explore_state.take_example,
        disabled=model is None,
    )


def _choose_padding(entry: CatalogMember, language: str) -> None:
    key = explore_state.widget_key(explore_state.PAD, language)
    st.selectbox(
        say("explore.pad", language),
        range(MOST_PADDING + 1),
        format_func=lambda count: say("explore.pad_choice", language, count=count),
        key=key,
        on_change=partial(explore_state.pick_padding, key),
        disabled=isinstance(entry, UploadedTrace),
        label_visibility="collapsed",
        width=112,
    )
