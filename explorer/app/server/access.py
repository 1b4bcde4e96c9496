"""Rights in class mode: the app on the local network, with one host and many guests.

Without the host's key a visitor may explore, force tokens and download; only the host may upload
and delete files, measure and train. Outside class mode every visitor may do everything.
"""

import hmac
import io
import os
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache

import segno

KEY_VARIABLE = "EXPLORER_HOST_KEY"
"""The environment variable with the host's key; set in class mode only."""

COMPUTING_RATE = 0.15
MOST_COMPUTING = 3.0
"""The rate limit of a guest in class mode: an allowance of `MOST_COMPUTING` seconds of computing,
refilled by `COMPUTING_RATE` seconds a second."""

PAGE_RATE = 0.5
MOST_PAGES = 30.0
"""The rate limit of page loads and downloads in class mode, for all guests of a network address
together: thirty visitors who all reload every five seconds stay below it."""

_TICKET_SECONDS = 60.0
_MOST_TICKETS = 64

_hosts: set[str] = set()
_tickets: OrderedDict[str, float] = OrderedDict()  # ticket → when it expires
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Rights:
    """Rights of a visitor besides exploring.

    change: upload and delete files, measure heads, and start, stop and delete trainings.
    unlimited: no rate limit.
    """

    change: bool
    unlimited: bool


def is_class_mode() -> bool:
    """Whether this server was started in class mode."""
    return bool(os.environ.get(KEY_VARIABLE))


def rights(host: bool) -> Rights:
    """The rights of a visitor.

    host: whether this visitor has shown the host's key.
    """
    free = host or not is_class_mode()
    return Rights(change=free, unlimited=free)


def is_key(word: str) -> bool:
    """Whether `word` is the host's key, compared in constant time."""
    key = os.environ.get(KEY_VARIABLE, "")
    return bool(key) and hmac.compare_digest(word.strip().encode(), key.encode())


def admit(session: str) -> None:
    """Note that a session has shown the key, for requests to the upload route."""
    with _lock:
        _hosts.add(session)


def is_host_session(session: str) -> bool:
    """Whether the session with this id has shown the key."""
    with _lock:
        return session in _hosts


def cookie_name() -> str:
    """The name of the host's cookie, of this server alone: all ports of a machine share cookies."""
    return f"explorer-host-{_derived('name')[:8]}"


def cookie_value() -> str:
    """The value of the host's cookie; the key cannot be found from it."""
    return _derived("value")


def is_host_cookie(value: str) -> bool:
    """Whether `value` is the value of the host's cookie, compared in constant time."""
    return is_class_mode() and hmac.compare_digest(value.encode(), cookie_value().encode())


def new_ticket() -> str:
    """A ticket for the host's cookie, valid once and for a minute."""
    ticket = secrets.token_urlsafe(18)
    with _lock:
        _tickets[ticket] = time.monotonic() + _TICKET_SECONDS
        while len(_tickets) > _MOST_TICKETS:
            _tickets.popitem(last=False)
    return ticket


def take_ticket(ticket: str) -> bool:
    """Use up a ticket. Returns whether it was valid."""
    with _lock:
        return time.monotonic() < _tickets.pop(ticket, 0.0)


def _derived(purpose: str) -> str:
    key = os.environ.get(KEY_VARIABLE, "")
    return hmac.new(key.encode(), f"host cookie {purpose}".encode(), "sha256").hexdigest()


@lru_cache(maxsize=8)
def qr_code(address: str) -> str:
    """A QR code of `address` as SVG, dark on light in both themes."""
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_inline(scale=5, border=3, dark="#10161f", light="#ffffff"))


@lru_cache(maxsize=8)
def qr_code_image(address: str) -> bytes:
    """As `qr_code`, as an image file that scales to any size."""
    code, image = segno.make(address, error="m", micro=False), io.BytesIO()
    code.save(image, kind="svg", border=3, dark="#10161f", light="#ffffff", omitsize=True)
    return image.getvalue()
