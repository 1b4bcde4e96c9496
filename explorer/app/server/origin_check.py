"""Hosts and origins that the server answers to: the outermost middleware.

A web page anywhere can send requests to a server on its visitor's own machine. The browser names
that page in the Origin header, and the name it asked for in the Host header; both are checked
here, before Streamlit sees the request. Streamlit's own check would look up this machine's
external address on the internet, in the event loop, for every origin it does not know.

    server.allowedHosts          hosts, for a server behind a proxy: hub.example.org, *.example.org
    server.corsAllowedOrigins    pages of other origins that may connect: https://course.example.org
"""

import logging
import socket
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketClose

from explorer.app.server.sentence import language_of
from explorer.app.server.static_files import Application, Message, Receive, Send
from explorer.core.files import one_line
from explorer.core.i18n import say

_LOG = logging.getLogger(__name__)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ADDRESS_SETTINGS = ("server.address", "browser.serverAddress")
_WILDCARD_ADDRESSES = {"", "0.0.0.0", "::"}
_LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Allowed:
    """Hosts and origins that the server answers to.

    hosts: names and addresses; "*.example.org" stands for every name below, "*" for any host.
    origins: "scheme://host:port" of pages that may connect although they come from elsewhere.
    """

    hosts: Collection[str]
    origins: Collection[str]

    def host(self, host: str, address: str = "") -> bool:
        """Whether a Host header "name:port" names this server. `address` is the server's own
        address on which the connection came in."""
        parts = _split(f"//{host}")
        whole = parts is not None and parts.netloc == host  # no path, query or fragment
        name = parts.hostname.rstrip(".") if parts and parts.hostname and whole else ""
        return bool(name) and (name == address or any(_matches(name, k) for k in self.hosts))

    def origin(self, origin: str, host: str) -> bool:
        """Whether a page of `origin` may connect to `host`: the server's own pages and the listed
        origins."""
        parts = _split(origin)
        return parts is not None and (parts.netloc == host or origin in self.origins)


class OriginCheck:
    """Refuses requests for another host or from another origin's page with one sentence."""

    def __init__(self, app: Application, allowed: Allowed | None = None) -> None:
        self.app = app
        self._allowed = allowed

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = _refusal(self._allowed or configured(), scope)
        if refusal is None:
            await self.app(_without_origin(scope), receive, send)
            return
        _LOG.warning(refusal)
        if scope["type"] == "websocket":
            await WebSocketClose(code=1008, reason="origin or host refused")(scope, receive, send)
        else:
            await PlainTextResponse(refusal, status_code=403)(scope, receive, send)


@cache
def configured() -> Allowed:
    """The names of this machine, or those in the settings."""
    hosts = _setting("server.allowedHosts")
    if not hosts:
        own = socket.gethostname()
        named = {str(st.get_option(setting) or "") for setting in _ADDRESS_SETTINGS}
        hosts = frozenset({*_LOOPBACK, own, f"{own}.local", *named} - _WILDCARD_ADDRESSES)
    return Allowed(frozenset(host.lower() for host in hosts), _setting("server.corsAllowedOrigins"))


def answers_this_machine_alone() -> bool:
    """Whether no other machine reaches the server, itself or by a proxy."""
    return st.get_option("server.address") in _LOOPBACK and not _setting("server.allowedHosts")


def _setting(name: str) -> frozenset[str]:
    return frozenset(str(value).strip() for value in st.get_option(name) or ())


def _refusal(allowed: Allowed, scope: Message) -> str | None:
    """The sentence that refuses a request, or None if it may pass."""
    headers = Headers(scope=scope)
    host, origin = headers.get("host", ""), headers.get("origin")
    address, _ = scope.get("server") or ("", 0)
    language = language_of(headers)
    if not allowed.host(host, address):
        return say("server.host_refused", language, host=_shown(host))
    if origin is not None and not allowed.origin(origin, host):
        return say("server.origin_refused", language, origin=_shown(origin))
    return None


def _shown(header: str) -> str:
    """A header, made printable for a sentence in a terminal."""
    return one_line(header[:_LONGEST_SHOWN])


def _without_origin(scope: Message) -> Message:
    """A WebSocket handshake without its checked Origin header, which Streamlit would look up."""
    if scope["type"] != "websocket":
        return scope
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"origin"]}


def _split(address: str) -> SplitResult | None:
    """The parts of an address, or None if it has no host or its port is no number."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    plain = parts.hostname and parts.username is None and not parts.path.strip("/")
    return parts if plain else None


def _matches(name: str, known: str) -> bool:
    if known.startswith("*."):
        return name.endswith(known[1:])
    return known in ("*", name)
