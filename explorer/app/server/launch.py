"""Start Streamlit's server with the app, for one person or in class mode.

Streamlit reads `.streamlit/config.toml` beside the script it runs, so the settings (loopback
address, upload limits, no telemetry, theme) hold in whatever folder the command is called.
"""

import os
import secrets
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

import segno

from explorer.app.server import access
from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES, say

_FIRST_PORT = 8501
_PORTS = 100
_UNREACHABLE = "192.0.2.1"
"""Reserved for documentation (RFC 5737); looking up the route to it sends nothing."""


class ClassModeError(ExplorerError):
    """Class mode cannot be started."""

    section = "classroom"


def entry_script() -> Path:
    """`app.py` with `.streamlit/` beside it: inside the installed package (the build puts both
    there), else at the top of the checkout."""
    installed = folders.PACKAGE / "app" / "entry" / "app.py"
    return installed if installed.exists() else folders.IMPORT_ROOT / "app.py"


def serve(options: Mapping[str, str | int]) -> int:
    """Serve the app until it is stopped.

    options: Streamlit's options by name, such as "server.port"; they override its config files
        and its environment variables.
    """
    from streamlit.web import cli

    flags = [f"--{name}={value}" for name, value in options.items()]
    sys.argv = ["streamlit", "run", str(entry_script()), *flags]
    return int(cli.main(standalone_mode=False) or 0)


def serve_class(port: int | None = None) -> int:
    """Serve the app in class mode until it is stopped, on `port` or the first free one.

    Prints the address, a QR code and the host's key. Raises `ClassModeError`.
    """
    key, port = secrets.token_urlsafe(9), port or free_port()
    here = local_address()
    address = f"http://{here}:{port}"
    os.environ[access.KEY_VARIABLE] = key
    print(invitation(address, key))
    segno.make(address, error="m", micro=False).terminal(compact=True)
    return serve(
        {
            "server.address": "0.0.0.0",
            "server.port": port,
            "server.headless": "true",
            "server.enableWebsocketCompression": "true",
            "browser.serverAddress": here,  # otherwise Streamlit asks a server on the internet
        }
    )


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
