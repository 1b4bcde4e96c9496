"""Class mode: the app on the local network, with one host and many guests.

    python -m explorer class

prints the address, a QR code and the host's key. Without the key a visitor may explore, force
tokens and download; only the host may upload and delete files, measure and train. Outside class
mode the app listens on the loopback address only, and its visitor may do everything.
"""

import hmac
import os
import secrets
import socket
import threading
from dataclasses import dataclass
from functools import lru_cache

import segno

from explorer.app.server import launch
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES, say

KEY_VARIABLE = "EXPLORER_HOST_KEY"
"""The environment variable with the host's key; set in class mode only."""

REQUESTS_A_SECOND = 2.0
MOST_REQUESTS = 30.0
"""The rate limit of a guest in class mode: an allowance of `MOST_REQUESTS` computations, refilled
at `REQUESTS_A_SECOND`."""

_FIRST_PORT = 8501
_PORTS = 100
_UNREACHABLE = "192.0.2.1"
"""Reserved for documentation (RFC 5737); looking up the route to it sends nothing."""

_hosts: set[str] = set()
_lock = threading.Lock()


class ClassModeError(ExplorerError):
    """Class mode cannot be started."""

    section = "classroom"


@dataclass(frozen=True, slots=True)
class Rights:
    """What a visitor may do besides exploring.

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


@lru_cache(maxsize=8)
def qr_code(address: str) -> str:
    """A QR code of `address` as SVG, dark on light in both themes."""
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_inline(scale=5, border=3, dark="#10161f", light="#ffffff"))


def local_address() -> str:
    """This machine's IP address in the local network; the loopback address without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_UNREACHABLE, 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def free_port() -> int:
    """The first free port from 8501 on. Raises `ClassModeError`."""
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise ClassModeError("no_port", first=_FIRST_PORT, last=_FIRST_PORT + _PORTS - 1)


def invitation(address: str, key: str) -> str:
    """What the terminal shows: the address and the key, in every language."""
    return "\n".join(
        say("classroom.invitation", language, address=address, secret=key) for language in LANGUAGES
    )


def main(port: int | None = None) -> int:
    """Start the app for the local network, on `port` or the first free one."""
    key, port = secrets.token_urlsafe(9), port or free_port()
    here = local_address()
    address = f"http://{here}:{port}"
    os.environ[KEY_VARIABLE] = key
    print(invitation(address, key))
    segno.make(address, error="m", micro=False).terminal(compact=True)
    return launch.serve(
        {
            "server.address": "0.0.0.0",
            "server.port": port,
            "server.headless": "true",
            "server.enableWebsocketCompression": "true",
            "browser.serverAddress": here,  # otherwise Streamlit asks a server on the internet
        }
    )
