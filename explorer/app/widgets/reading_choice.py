"""The choices for how a library model reads the text, if it has any: languages, or as a chat
message. The model names them once it is opened."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core.i18n import say
from explorer.core.look import Reading
from explorer.core.spoken_languages import language_name
from explorer.model.catalog import CatalogMember


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
