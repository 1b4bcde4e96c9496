"""State of a visitor across all pages: the language."""

from dataclasses import dataclass, replace
from urllib.parse import unquote

import streamlit as st

from explorer.app.state import address_bar, session
from explorer.core.i18n import LANGUAGES, nearest_language

_LANGUAGE_COOKIE = "explorer-language"
"""Cookie with the name of the language chosen in an earlier visit; `chosen_language.js` sets it."""


@dataclass(frozen=True, slots=True)
class VisitorState:
    """language: chosen with the switch or by a link; "" = neither."""

    language: str = ""


def language() -> str:
    """The visitor's language: the chosen one, or else the link's, that of an earlier visit, or the
    browser's."""
    for language in (session.load(VisitorState).language, address_bar.linked_language()):
        if language in LANGUAGES:
            choose_language(str(language))  # the URL of another page does not carry it
            return str(language)
    named = unquote(st.context.cookies.get(_LANGUAGE_COOKIE, ""))
    for language, name in LANGUAGES.items():
        if name == named:
            return language
    return nearest_language(st.context.locale or "")


def choose_language(language: str) -> None:
    """Keep to this language."""
    session.save(replace(session.load(VisitorState), language=language))


def chosen_language() -> str:
    """The language chosen with the switch or by a link; "" = neither."""
    return session.load(VisitorState).language
