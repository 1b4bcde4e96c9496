"""Messages on a page, shown literally: nothing in them is read as Markdown. Callbacks report those
of the page's next run."""

import re
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app.refused_parts import refused_parts
from explorer.app.state import session
from explorer.core.errors import ExplorerError, RemovedError
from explorer.core.i18n import say

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_LINK_START = re.compile(r"www(?=\.)|https?(?=:)|\S(?=@)|:(?=\w)", re.IGNORECASE)
_WORD_JOINER = "\u2060"
"""Invisible character, not a letter. It keeps “:smile:” and “www.x.y” from becoming emoji and
links."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Shown once, in the page's header. errors: reported. notices: other sentences."""

    errors: tuple[ExplorerError, ...] = ()
    notices: tuple[str, ...] = ()


def report(error: ExplorerError) -> None:
    """Show `error` once, in the next run of the page."""
    messages = session.load(Messages)
    session.save(replace(messages, errors=(*messages.errors, error.alone())))


def notify(sentence: str) -> None:
    """Show `sentence` once, in the next run of the page."""
    messages = session.load(Messages)
    session.save(replace(messages, notices=(*messages.notices, sentence)))


def take() -> Messages:
    """Return the pending messages, and clear them."""
    messages = session.load(Messages)
    session.save(Messages())
    return messages


def literal(text: str) -> str:
    """`text` escaped for a widget that reads Markdown."""
    return _PUNCTUATION.sub(r"\\\1", _LINK_START.sub(lambda found: found[0] + _WORD_JOINER, text))


def message_area() -> DeltaGenerator:
    """The container for messages, which main.css puts into the header."""
    return st.container(key="messages")


def show_error(
    error: ExplorerError, language: str, container: DeltaGenerator | None = None
) -> None:
    """Show an error's sentence in `container`; None = here."""
    (container or st).error(literal(error.in_language(language)))


def show_reported(language: str, container: DeltaGenerator) -> None:
    """Show the errors and notices that callbacks reported."""
    pending = take()
    for error in pending.errors:
        show_error(error, language, container)
    for notice in pending.notices:
        container.info(literal(notice))


def show_moved(section: str, language: str, container: DeltaGenerator) -> None:
    """Say in `container` what a link to a section of an earlier version opens now."""
    container.info(literal(RemovedError(f"section_{section}").in_language(language)))


def show_refused(
    names: tuple[str, ...], language: str, container: DeltaGenerator | None = None
) -> None:
    """Say in `container` which parameters of a link were refused; None = here."""
    parts = literal(refused_parts(names, language))
    (container or st).warning(say("explore.link_refused", language, parts=parts))
