"""The row of controls on Explore and Heads: model, text, second text, padding and, for a library
model that has them, how it reads the text: its languages, or as a chat message.
"""

import random
from collections.abc import Mapping
from functools import cache, partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.components.labels import lines, source_hint
from explorer.core.i18n import say
from explorer.core.look import MOST_PADDING, Reading
from explorer.core.spoken_languages import language_name
from explorer.core.word_segmentation import is_special
from explorer.core.words import source_words
from explorer.model.catalog import CatalogMember


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
        on_change=partial(session.read_choice, key, visit_state.set_text),
        placeholder=source_hint(member, language),
        autocomplete="off",
        label_visibility="collapsed",
    )


def _type_pair(text: str, language: str) -> None:
    key = session.shown_as("pair", language, text)
    st.text_input(
        say("explore.pair", language),
        key=key,
        on_change=partial(session.read_choice, key, visit_state.set_pair),
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
        disabled=not member.can_trace or (member.is_own and member.summary.decoder_only),
        label_visibility="collapsed",
        width=112,
    )


@cache
def _padding_choices(language: str) -> tuple[str, ...]:
    """The line of each number of padding tokens."""
    counts = range(MOST_PADDING + 1)
    return tuple(say("explore.pad_choice", language, count=count) for count in counts)


def reading_choice(
    place: DeltaGenerator, member: CatalogMember, reading: Reading | None, language: str
) -> None:
    """Draw the choices of an opened model, in `place`; nothing for a model without any."""
    model = model_cache.opened(member)
    if model is None or reading is None:
        return
    with place:
        if model.tokens.languages:
            codes = tuple(model.tokens.languages)
            own = {name: model.facts[f"{name}_language"] or "" for name in ("source", "target")}
            _choose_languages(reading, codes, own, language)
        if model.tokens.chats:
            _choose_chat(reading, language)


def _choose_languages(
    reading: Reading, codes: tuple[str, ...], own: dict[str, str], language: str
) -> None:
    """codes: of the model. own: languages it reads and writes by default, "" if it chooses
    itself."""
    asked = {"source": reading.source_language, "target": reading.target_language}
    named = {name: code if code in codes else "" for name, code in asked.items()}
    shown = [named[name] or own[name] or "…" for name in named]
    label = say("explore.languages", language, source=shown[0], target=shown[1])
    with st.popover(label, key="languages", icon=":material/translate:"):
        for name, code in named.items():
            key = session.shown_as(f"{name}-language", language, code)
            st.selectbox(
                say(f"explore.{name}_language", language),
                ("", *codes),
                format_func=partial(_named, own=own[name], language=language),
                key=key,
                on_change=partial(
                    session.read_choice, key, partial(visit_state.set_language, name, codes)
                ),
            )


def _choose_chat(reading: Reading, language: str) -> None:
    key = session.shown_as("chat", language, reading.chat)
    st.toggle(
        say("explore.chat", language),
        key=key,
        on_change=partial(session.read_choice, key, visit_state.set_chat),
        help=say("explore.chat_title", language),
    )


def _named(code: str, own: str, language: str) -> str:
    """A language of the list: "French · fr"; the first entry is the model's own choice."""
    if not code:
        chosen = _named(own, "", language) if own else ""
        key = "own_language" if chosen else "any_language"
        return say(f"explore.{key}", language, name=chosen)
    name = language_name(code, language)
    return f"{name} · {code}" if name else code
