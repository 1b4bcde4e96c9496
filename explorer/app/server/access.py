"""Who is the host in class mode, where the app is on the local network with one host and many
guests: the browser with the host's cookie, which it gets for the key or for a ticket.
"""

import hashlib
import hmac
import io
import os
import secrets
from functools import lru_cache

import segno
from starlette.requests import HTTPConnection

KEY_VARIABLE = "EXPLORER_HOST_KEY"
"""The environment variable with the host's key; set in class mode only."""

_tickets: set[str] = set()  # issued and not used


def is_class_mode() -> bool:
    """Whether this server was started in class mode."""
    return bool(os.environ.get(KEY_VARIABLE))


def is_key(word: str) -> bool:
    """Whether `word` is the host's key, compared in constant time."""
    key = os.environ.get(KEY_VARIABLE, "")
    return bool(key) and hmac.compare_digest(word.strip().encode(), key.encode())


def cookie_name() -> str:
    """The name of the host's cookie, of this server alone: all ports of a machine share cookies."""
    return f"explorer-host-{_name(os.environ.get(KEY_VARIABLE, ''))}"


@lru_cache(maxsize=8)
def _name(key: str) -> str:
    """A word that every guest learns; a tenth of a second to compute, so that who guesses at a key
    that a person has chosen tries few."""
    return hashlib.pbkdf2_hmac("sha256", key.encode(), b"host cookie name", 200_000).hex()[:8]


def cookie_value() -> str:
    """The value of the host's cookie; the key cannot be found from it."""
    return _derived("value")


def is_host_cookie(value: str) -> bool:
    """Whether `value` is the value of the host's cookie, compared in constant time."""
    return is_class_mode() and hmac.compare_digest(value.encode(), cookie_value().encode())


def is_host(connection: HTTPConnection) -> bool:
    """Whether a request comes from the host's browser."""
    return is_host_cookie(connection.cookies.get(cookie_name(), ""))


def issue_ticket() -> str:
    """A new ticket for a single-use link.

    It is random and only in memory: the next start may have the same key, and a used link must stay
    used."""
    ticket = secrets.token_hex(32)
    _tickets.add(ticket)
    return ticket


def take_ticket(word: str) -> bool:
    """Use up a ticket. Returns whether `word` is one that this server issued and nobody used."""
    issued = word in _tickets
    _tickets.discard(word)
    return issued


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
