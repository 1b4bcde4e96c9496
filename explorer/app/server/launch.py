"""Start Streamlit's server with the app, for one person or in class mode.

Streamlit reads `.streamlit/config.toml` beside the script it runs, so the settings (loopback
address, upload limits, no telemetry, theme) hold in whatever folder the command is called.
"""

import errno
import ipaddress
import os
import re
import socket
import sys
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path

import segno

from explorer.app.server import access, guest_limits, host_key, host_page, server_address
from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say, terminal_language
from explorer.core.number_format import typed_number
from explorer.core.vocabulary import shorten

_FIRST_PORT = 8501
_PORTS = 100
_LAST_PORT = 65_535
_LOOPBACK = "127.0.0.1"  # as in `.streamlit/config.toml`
_ALL_ADDRESSES = "0.0.0.0"
_WILDCARDS = (_ALL_ADDRESSES, "::")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9a-fA-F:]+")
_PROTOCOL = "explorer.app.server.connection_limits:LimitedProtocol"
_LOOP = "explorer.app.server.accepting_loop:loop_factory"
_PROXIES = "FORWARDED_ALLOW_IPS"
"""uvicorn's environment variable: addresses of proxies, of which it believes who sent a request.
Without it uvicorn believes every program of this computer."""

_OPEN_FILES = 8192
_PATIENCE = 1.0  # seconds for a server on a port to identify itself
_UNREACHABLE = "192.0.2.1"
"""Reserved for documentation (RFC 5737); looking up the route to it sends nothing."""


class StartError(ExplorerError):
    """The app cannot be served at the requested port or address."""

    section = "classroom"


def entry_script() -> Path:
    """`app.py` with `.streamlit/` beside it: inside the installed package (the build puts both
    there), or else at the top of the checkout."""
    installed = folders.PACKAGE / "app" / "entry" / "app.py"
    return installed if installed.exists() else folders.IMPORT_ROOT / "app.py"


def serve_alone(port: int | None = None) -> int:
    """Serve the app for one person until it is stopped.

    port: to listen on; None = that of Streamlit's own environment variable, or the first free one.

    Raises `StartError`.
    """
    os.environ.pop(access.KEY_VARIABLE, None)  # which `class` alone takes
    asked = _asked_port(port)
    if asked is not None:
        _refuse_unfree(os.environ.get("STREAMLIT_SERVER_ADDRESS", "") or _LOOPBACK, asked)
    return serve({} if port is None else {"server.port": port})


def serve(options: Mapping[str, str | int]) -> int:
    """Serve the app until it is stopped.

    options: Streamlit's options by name, such as "server.port"; they override its config files
        and its environment variables.
    """
    import click
    import uvicorn.config  # late, as Streamlit: the command line starts without a server
    from streamlit.web import cli

    uvicorn.config.HTTP_PROTOCOLS["auto"] = _PROTOCOL
    if find_spec("uvloop") is not None and hasattr(uvicorn.config, "LOOP_FACTORIES"):
        uvicorn.config.LOOP_FACTORIES["auto"] = _LOOP  # not on Windows, nor before uvicorn 0.36
    os.environ.setdefault(_PROXIES, "")
    _allow_open_files()
    flags = [f"--{name}={value}" for name, value in options.items()]
    sys.argv = ["streamlit", "run", str(entry_script()), *flags]
    try:
        return int(cli.main(standalone_mode=False) or 0)
    except click.Abort as error:  # Click's exception for Ctrl-C
        raise KeyboardInterrupt from error


def _allow_open_files() -> None:
    """Let this process have `_OPEN_FILES`, or as many as it may: macOS gives 256 unless asked, too
    few for the connections of a class."""
    if sys.platform == "win32":
        return
    import resource

    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if most == resource.RLIM_INFINITY else min(_OPEN_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def serve_class(
    port: int | None = None,
    address: str = "",
    name: str = "",
    *,
    new_key: bool = False,
    guests: int | None = None,
) -> int:
    """Serve the app in class mode until it is stopped, and print how to join.

    port: to listen on; None = the first free one.
    address: to listen on; "" = all of this machine.
    name: host name with which guests open the app; "" = the address.
    new_key: whether the host's key is a new one, neither that of the environment nor that of the
        last class on this port.
    guests: pages, votes and curves that one network address may have; None = see `guest_limits`.

    Omitted values come from Streamlit's own environment variables. Raises `StartError`.
    """
    address = address or os.environ.get("STREAMLIT_SERVER_ADDRESS", "") or _ALL_ADDRESSES
    name = name or os.environ.get("STREAMLIT_BROWSER_SERVER_ADDRESS", "")
    if name and not _NAME.fullmatch(name):
        raise StartError("bad_name", name=name[:60])
    if (port := _asked_port(port)) is None:
        port = free_port(address)
    _refuse_unfree(address, port)
    if guests is not None:
        if not 1 <= guests <= guest_limits.LARGEST:
            got = shorten(f"{guests:d}")
            raise StartError("bad_guests", got=got, most=guest_limits.LARGEST)
        os.environ[guest_limits.VARIABLE] = f"{guests:d}"
    shown = name or (local_address() if address in _WILDCARDS else address)
    url = f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
    if path := os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/"):
        url = f"{url}/{path}"
    key = os.environ[access.KEY_VARIABLE] = _host_key(port, new_key)
    link = host_page.link(url, access.issue_ticket())
    segno.make(url, error="m", micro=False).terminal(compact=True)
    print(invitation(url, link, key, here_only=_is_loopback(address)))
    return serve(
        {
            "server.address": address,
            "server.port": port,
            "server.headless": "true",
            "browser.serverAddress": shown,  # otherwise Streamlit asks a server on the internet
        }
    )


def _host_key(port: int, new: bool) -> str:
    """The host's key: that of the environment, else that of the last class on this port, else a new
    one. Raises `StartError` for one that can be guessed."""
    given = "" if new else os.environ.get(access.KEY_VARIABLE, "")
    if not given:
        return host_key.kept(port, new=new)
    if len(given) < host_key.SHORTEST:
        raise StartError("short_key", name=access.KEY_VARIABLE, least=host_key.SHORTEST)
    return given


def local_address() -> str:
    """This machine's IP address in the local network; the loopback address without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_UNREACHABLE, 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def _asked_port(port: int | None) -> int | None:
    """`port`, or that of Streamlit's environment variable, or None if neither is given. Raises
    `StartError` if it is no port."""
    wanted = os.environ.get("STREAMLIT_SERVER_PORT", "")
    if port is None and not wanted:
        return None
    number = typed_number(wanted) if port is None else port
    if number is None or not 1 <= number <= _LAST_PORT:
        got = shorten(wanted if port is None else f"{port:d}")
        raise StartError("bad_port", got=got, last=_LAST_PORT)
    return number


def free_port(address: str = _ALL_ADDRESSES) -> int:
    """The first free port of `address` from 8501 on. Raises `StartError`."""
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        if not _refusal(address, port):
            return port
    raise StartError("no_port", first=_FIRST_PORT, last=_FIRST_PORT + _PORTS - 1)


def _refuse_unfree(address: str, port: int) -> None:
    """Raise `StartError` if this process cannot listen on `port` of `address`."""
    if key := _refusal(address, port):
        reached = {_ALL_ADDRESSES: _LOOPBACK, "::": "::1"}.get(address, address)
        url = f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"
        if key == "port_taken" and _serves_explorer(url):
            raise StartError("port_own", port=port, url=url)
        raise StartError(key, port=port)


def _serves_explorer(url: str) -> bool:
    """Whether this version of the app answers at this address."""
    script = server_address.SCRIPT.read_bytes()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}{server_address.PATH}", timeout=_PATIENCE) as answer:
            return bool(answer.read(len(script) + 1) == script)
    except (OSError, HTTPException):
        return False


def _refusal(address: str, port: int) -> str:
    """Name of the sentence that says why `port` cannot be listened on; "" if it can. Raises
    `StartError` if `address` is not one of this machine."""
    try:
        family, *_, target = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if sys.platform != "win32":  # there it would let two servers share a port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(target)
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise StartError("no_address", address=address[:60]) from error
        return "port_denied" if isinstance(error, PermissionError) else "port_taken"
    return ""


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def invitation(url: str, link: str, key: str, *, here_only: bool = False) -> str:
    """What the terminal says below the code, in its language: the address for guests, and apart
    from it, for the host alone, a single-use link, the key, and a warning.

    Link and key end their lines, so that they are copied alone.
    """
    how = "classroom.invitation_here" if here_only else "classroom.invitation"
    language = terminal_language()
    return "\n".join(
        [
            say(how, language, address=url),
            "",
            say("classroom.host_link", language, link=link),
            say("classroom.host_key", language, address=url, secret=key),
            say("classroom.plain_http", language),
        ]
    )
