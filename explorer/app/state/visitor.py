"""What is remembered of a visitor on all pages: language, rights and the rate limit."""

from dataclasses import dataclass, replace
from typing import ClassVar

import streamlit as st

from explorer.app.server import access
from explorer.app.server.access import Rights
from explorer.app.server.rate_limit import RateLimiter
from explorer.app.state import address_bar, session
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES

_VISITORS_PER_ADDRESS = 40
"""Visitors that may share one network address: a school often has only one."""

_limiter = RateLimiter(owners=4096)


class RateLimitError(ExplorerError):
    """A visitor asks for more traces than the rate limit allows."""

    section: ClassVar[str] = "explore"


@dataclass(frozen=True, slots=True)
class VisitorState:
    """language: chosen with the switch or by a link; "" = neither.
    is_host: whether this visitor has shown the host's key.
    """

    language: str = ""
    is_host: bool = False


def language() -> str:
    """The visitor's language: the one chosen, else the link's, else the browser's."""
    for language in (session.load(VisitorState).language, address_bar.linked_language()):
        if language in LANGUAGES:
            choose_language(str(language))  # the URL of another page does not carry it
            return str(language)
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def choose_language(language: str) -> None:
    """Keep to this language."""
    session.save(replace(session.load(VisitorState), language=language))


def chosen_language() -> str:
    """The language chosen with the switch or by a link; "" = neither."""
    return session.load(VisitorState).language


def is_host() -> bool:
    """Whether this visitor has shown the host's key."""
    return session.load(VisitorState).is_host


def rights() -> Rights:
    """What this visitor may do."""
    return access.rights(is_host())


def show_key(word: str) -> None:
    """Give this visitor the host's rights until the session ends, if `word` is the host's key."""
    session.save(replace(session.load(VisitorState), is_host=access.is_key(word)))
    if is_host():
        access.admit(session.session_id())  # the upload route knows the session alone


def spend_request() -> None:
    """Count a new computation against the rate limit. Raises `RateLimitError` beyond it.

    A reload begins a new session with an allowance of its own. So the network address is
    counted, too, for as many visitors as may share it.
    """
    if rights().unlimited:
        return
    owners = {
        f"session {session.session_id()}": 1.0,
        f"address {st.context.ip_address}": float(_VISITORS_PER_ADDRESS),
    }
    if not _limiter.spend(owners, access.REQUESTS_A_SECOND, access.MOST_REQUESTS):
        raise RateLimitError("too_many_requests")
