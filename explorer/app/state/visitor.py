"""State of a visitor across all pages: language and rights, and who is charged for computing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from urllib.parse import unquote

import streamlit as st

from explorer.app.server import access, rate_limit
from explorer.app.server.access import Rights
from explorer.app.server.key_attempts import KeyAttempts
from explorer.app.server.rate_limit import Owners, charged_to
from explorer.app.state import address_bar, session
from explorer.core.i18n import LANGUAGES, nearest_language, say

_LANGUAGE_COOKIE = "explorer-language"
"""Cookie with the name of the language chosen in an earlier visit; `chosen_language.js` sets it."""

_key_attempts = KeyAttempts(addresses=4096)


@dataclass(frozen=True, slots=True)
class VisitorState:
    """language: chosen with the switch or by a link; "" = neither.
    is_host: whether this visitor has shown the host's key in this session.
    ticket: for the host's cookie, issued when the key was shown.
    """

    language: str = ""
    is_host: bool = False
    ticket: str = ""


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


def is_host() -> bool:
    """Whether this visitor has shown the host's key, now or before a reload."""
    if not access.is_class_mode():
        return False
    if session.load(VisitorState).is_host:
        return True
    returned = access.is_host_cookie(st.context.cookies.get(access.cookie_name(), ""))
    if returned:
        access.admit(session.session_id())
    return returned


def host_ticket() -> str:
    """The ticket for the host's cookie, after the key was shown in this session; "" before."""
    return session.load(VisitorState).ticket


def rights() -> Rights:
    """The rights of this visitor."""
    return access.rights(is_host())


def show_key(word: str) -> None:
    """Give this visitor the host's rights if `word` is the host's key and the visitor need not
    wait."""
    right = _key_attempts.attempt(_address(), access.is_key(word))
    ticket = access.new_ticket() if right else ""
    session.save(replace(session.load(VisitorState), is_host=right, ticket=ticket))
    if right:
        access.admit(session.session_id())  # the upload route knows the session alone


def key_wait() -> float:
    """Seconds for which this visitor's keys are still refused, after several wrong ones."""
    return _key_attempts.wait(_address())


@contextmanager
def turn() -> Iterator[None]:
    """A block, such as one run of a page, whose computing time is charged to the visitor; see
    `rate_limit.turn`."""
    with rate_limit.turn(_owners):
        yield


def page_load() -> AbstractContextManager[bool]:
    """A block that draws a whole page, charged to the visitor's network address. It yields whether
    the page may be drawn.

    Cached results are never refused, so without this limit an address that keeps reloading a page
    would take the whole processor.
    """
    return charged_to(_charged_address())


def limited_download(make: Callable[[], bytes], language: str) -> Callable[[], bytes]:
    """`make`, charged to the visitor's network address each time it is called, from any thread.

    Over the limit, the file holds a sentence that says so: Streamlit shows no errors of ours, and
    writes a traceback for each.
    """
    address = _charged_address()

    def limited() -> bytes:
        with charged_to(address) as admitted:
            if not admitted:
                return say("explore.too_many_requests", language).encode()
            with rate_limit.turn(dict):  # its computing is charged here, not to a turn
                return make()

    return limited


def _owners() -> Owners:
    """The owners charged for a turn."""
    return {} if rights().unlimited else rate_limit.owners(session.session_id(), _address())


def _charged_address() -> str | None:
    """The network address that is charged; None = nobody is charged."""
    return None if rights().unlimited else _address()


def _address() -> str:
    """The visitor's network address; "" for the loopback address."""
    return st.context.ip_address or ""
