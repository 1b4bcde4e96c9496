"""The explorer for a class: bound to the local network, with one host and many visitors.

    python -m explorer class

prints the address, a QR code and the host's key. Without the key a visitor explores, forces
tokens and downloads; only the host brings files in and deletes them. Without a classroom the
app listens to its own machine alone and its one visitor may do everything.
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
"""The environment variable that makes the app a classroom."""

TURNS_A_SECOND = 2.0
MOST_TURNS = 30.0
"""Traces a visitor may ask for at once; they come back at `TURNS_A_SECOND`."""

_FIRST_PORT = 8501
_PORTS = 100
_NO_HOST = "192.0.2.1"
"""An address kept for documentation: asking for the way there sends nothing."""

_hosts: set[str] = set()
_lock = threading.Lock()


class ClassroomError(ExplorerError):
    """A class that cannot be started."""

    section = "classroom"


@dataclass(frozen=True, slots=True)
class Rights:
    """What one visitor may do beside exploring.

    bring: upload files and delete them.
    unlimited: trace as often as the machine can.
    """

    bring: bool
    unlimited: bool


def is_classroom() -> bool:
    """Whether this server was started for a class."""
    return bool(os.environ.get(KEY_VARIABLE))


def rights(host: bool) -> Rights:
    """The rights of a visitor; `host`: whether the host's key was shown."""
    free = host or not is_classroom()
    return Rights(bring=free, unlimited=free)


def is_key(word: str) -> bool:
    """Whether `word` is the host's key, found out in a time that tells nothing about it."""
    key = os.environ.get(KEY_VARIABLE, "")
    return bool(key) and hmac.compare_digest(word.strip().encode(), key.encode())


def admit(session: str) -> None:
    """Remember that a session has shown the key, for what is asked outside of its page."""
    with _lock:
        _hosts.add(session)


def is_host_session(session: str) -> bool:
    """Whether the session with this number has shown the key."""
    with _lock:
        return session in _hosts


@lru_cache(maxsize=8)
def qr_code(address: str) -> str:
    """A QR code of `address` as SVG, dark on light in every theme."""
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_inline(scale=5, border=3, dark="#10161f", light="#ffffff"))


def local_address() -> str:
    """This machine's address in the local network, the loopback address without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_NO_HOST, 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def free_port() -> int:
    """The first port from 8501 on that nobody listens to. Raises `ClassroomError`."""
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise ClassroomError("no_port", first=_FIRST_PORT, last=_FIRST_PORT + _PORTS - 1)


def invitation(address: str, key: str) -> str:
    """What the terminal shows: the address and the key, in every language we speak."""
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
            "browser.serverAddress": here,  # known, so that nobody is asked on the internet
        }
    )
