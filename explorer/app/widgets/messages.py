"""Sentences on a page, told as they are: nothing in them is read as Markdown."""

import re

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.vocabulary import LONGEST_LINKED_TEXT

_MARKED = re.compile(r"([!-/:-@\[-`{-~])")
_LINKED = re.compile(r"www(?=\.)|https?(?=:)|\S(?=@)|:(?=\w)", re.IGNORECASE)
_WORD_JOINER = "\u2060"
"""Takes no room and is no letter: “:smile:” and “www.x.y” stay what was typed."""


def plain(text: str) -> str:
    """`text` for a place that reads Markdown, shown to the letter."""
    return _MARKED.sub(r"\\\1", _LINKED.sub(lambda found: found[0] + _WORD_JOINER, text))


def complain(error: ExplorerError, language: str, place: DeltaGenerator | None = None) -> None:
    """Show an error's sentence in `place`, here without one."""
    (place or st).error(plain(error.in_language(language)))


def refuse_parts(names: tuple[str, ...], language: str, place: DeltaGenerator) -> None:
    """Say which parts of a link could not be followed."""
    between = say("explore.part_separator", language)
    parts = between.join(
        say(f"explore.part_{name}", language, longest=LONGEST_LINKED_TEXT) for name in names
    )
    place.warning(say("explore.link_refused", language, parts=parts))
