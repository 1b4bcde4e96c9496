"""The row of controls on Explore and Heads: model, text, second text and padding."""

import random
from collections.abc import Mapping
from functools import cache, partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app.state import explore as explore_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.widgets.credits import short_credit
from explorer.app.widgets.messages import literal
from explorer.app.widgets.model_notes import model_notes
from explorer.app.widgets.text_notes import text_note
from explorer.components.labels import describe, lines, purpose, source_hint, source_of_scores
from explorer.core.i18n import say
from explorer.core.look import MOST_PADDING, Request
from explorer.core.trace import Trace
from explorer.core.word_segmentation import is_special
from explorer.core.words import source_words
from explorer.model import examples
from explorer.model.catalog import CatalogMember

LONGEST_SHOWN, LONGEST_ON_PHONE = 40, 16
"""Most characters of a model's name in the closed list of models, on a computer and a phone."""

_LONGEST_IN_HEADER = 200
"""Most characters of a note in the header. A longer note takes the width of the window below it."""


def input_bar(catalog: Mapping[str, CatalogMember], language: str) -> DeltaGenerator:
    """Draw model, Source, a second text if the model reads one, Random, Examples and Pad, with the
    values of the visit's request. Returns the place for `reading_choice`."""
    request = visit_state.current().request
    member = catalog[request.model]
    _choose_model(request.model, catalog, language)
    _type_source(request.text, member, language)
    if member.can_trace and member.reads_pairs:
        _type_pair(request.pair or "", language)
    place = st.container(key="reading", width="content", horizontal=True)
    _offer_texts(request.text, member, language)
    asked = "padding-chosen" if request.pad else "padding"  # main.css hides the latter
    with st.container(key=asked, width="content"):
        _choose_padding(request.pad, member, language)
    return place


def hint(member: CatalogMember, request: Request, trace: Trace, language: str) -> None:
    """Draw a note: what to look at in an example, facts about the model, its task and the data it
    was trained on, or a name that the list of models cuts off. main.css puts it into the header,
    where it takes no height from the picture. While outputs are guessed, it hides what to look at,
    which names them. The hover text names the data its score was measured on."""
    text, example, about_model, source = model_notes(member, trace, language), "", "", ""
    if member.can_trace:
        text = text or text_note(member, request.text, trace, language)
        example = "" if text else examples.hint(member.name, request.text, language)
        credit = short_credit(member.summary.credit, language)
        about_model = " ".join(filter(None, (purpose(member, language), credit)))
        source = source_of_scores(member.summary, language)
    name = describe(member, language)
    cut = name if len(name) > LONGEST_ON_PHONE else ""
    shown = text or example or about_model or cut
    if shown:
        kind = "hint-note" if text else "hint-example" if example else "hint-model"
        if shown == cut and len(cut) <= LONGEST_SHOWN:
            kind = "hint-name"  # main.css shows it on a phone only
        elif len(text) > _LONGEST_IN_HEADER:
            kind = "hint-note-long"
        about = "" if text or source in shown else source
        with st.container(key="hint"), st.container(key=kind):
            st.caption(literal(shown), help=literal(about) if about else None)


def _choose_model(name: str, catalog: Mapping[str, CatalogMember], language: str) -> None:
    key = session.shown_as("model", language, name)
    st.selectbox(
        say("explore.model", language),
        list(catalog),
        format_func=lines(catalog, language).__getitem__,
        key=key,
        on_change=partial(
            session.read_choice, key, partial(visit_state.choose_model, catalog=catalog)
        ),
        label_visibility="collapsed",
    )


def _type_source(text: str, member: CatalogMember, language: str) -> None:
    label = say("explore.source", language)
    if not member.can_trace:
        words = [word.label for word in source_words(member.trace) if not is_special(word.label)]
        st.text_input(label, " ".join(words), disabled=True, label_visibility="collapsed")
        return
    key = session.shown_as("source", language, text)
    st.text_input(
        label,
        key=key,
        on_change=partial(session.read_choice, key, explore_state.submit_text),
        placeholder=source_hint(member, language),
        autocomplete="off",
        label_visibility="collapsed",
    )


def _type_pair(text: str, language: str) -> None:
    key = session.shown_as("pair", language, text)
    st.text_input(
        say("explore.pair", language),
        key=key,
        on_change=partial(session.read_choice, key, explore_state.submit_pair),
        placeholder=say("explore.pair_hint", language),
        autocomplete="off",
        label_visibility="collapsed",
    )


def _offer_texts(shown: str, member: CatalogMember, language: str) -> None:
    def take_random() -> None:
        if member.can_trace:
            visit_state.set_text(member.random_text(random.Random(), shown))

    st.button(
        say("explore.random", language),
        key="random",
        on_click=take_random,
        disabled=not (member.can_trace and member.draws_texts),
    )
    st.menu_button(
        say("explore.examples", language),
        member.examples if member.can_trace else ("",),  # a menu needs an option
        key=session.EXAMPLES,
        on_click=_take_example,
        disabled=not member.can_trace,
    )


def _take_example() -> None:
    if text := session.widget_value(session.EXAMPLES):
        visit_state.set_text(str(text))


def _choose_padding(count: int, member: CatalogMember, language: str) -> None:
    key = session.shown_as("pad", language, count)
    st.selectbox(
        say("explore.pad", language),
        range(MOST_PADDING + 1),
        format_func=_padding_choices(language).__getitem__,
        key=key,
        on_change=partial(session.read_choice, key, visit_state.set_padding),
        disabled=not member.can_trace,
        label_visibility="collapsed",
        width=112,
    )


@cache
def _padding_choices(language: str) -> tuple[str, ...]:
    """The line of each number of padding tokens."""
    counts = range(MOST_PADDING + 1)
    return tuple(say("explore.pad_choice", language, count=count) for count in counts)
