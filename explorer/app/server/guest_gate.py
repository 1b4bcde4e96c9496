"""Middleware in class mode: whoever has no host's cookie gets the guests' site and the routes of a
class, and nothing of Streamlit."""

import re

from starlette.datastructures import URL, Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse
from starlette.websockets import WebSocketClose

from explorer.app.server import (
    access,
    class_route,
    class_trace,
    class_training,
    guest_site,
    host_cookie,
    host_page,
    server_address,
)
from explorer.app.server.sentence import sentence
from explorer.app.server.static_files import Application, Message, Receive, Send

_READ, _WRITE = ("GET", "HEAD"), ("POST",)

OPEN = {
    class_route.EVENTS_PATH: ("GET",),
    class_route.VOTE_PATH: _WRITE,
    class_route.CURVE_PATH: _WRITE,
    class_training.PATH: _READ,
    host_cookie.PATH: _WRITE,
    host_page.PATH: _READ,
    server_address.PATH: _READ,  # by which a second start knows this server
    "/_stcore/health": _READ,
}
"""Routes for guests, below the base path, and their methods; any other reaches Streamlit."""

_ON_HOST_S_SCREEN = re.compile(r"(?:/class/trace/([0-9a-f]{64})|/trace/([0-9a-f]{64})/[a-z]+/.*)")
"""Routes of one trace; groups: its key in either."""

_MOMENT = re.compile(r"/moments/([a-z]+/[^/]+)/[0-9]+")
"""Route of a moment of a training; group: its run."""


class GuestGate:
    """ASGI middleware that lets the host's browser pass and answers all others.

    base: the URL path the app is served under, "" or "/…".
    """

    def __init__(self, app: Application, base: str = "") -> None:
        self.app = app
        self.base = base

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        served = scope["type"] in ("http", "websocket")
        if not served or access.is_host(HTTPConnection(scope)):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(code=1008, reason="host only")(scope, receive, send)
        elif self._is_open(scope["method"], scope["path"]):
            await self.app(scope, receive, send)
        elif scope["path"] == self.base and scope["method"] in _READ:
            page = URL(scope=scope).replace(path=f"{self.base}/")
            await RedirectResponse(page, 307)(scope, receive, send)
        else:
            request = Request(scope)
            below = self._below(scope["path"])
            answer = None if below is None else await guest_site.site.answer(request, below)
            refused = sentence(403, "classroom.host_only", Headers(scope=scope))
            await (answer or refused)(scope, receive, send)

    def _is_open(self, method: str, path: str) -> bool:
        """Whether a route is for guests: of traces and trainings, those of the one on the host's
        screen."""
        below = self._below(path) or ""
        if method in OPEN.get(below, ()):
            return True
        if method not in _READ:
            return False
        if moment := _MOMENT.fullmatch(below):
            return class_training.is_on_screen(moment[1])
        found = _ON_HOST_S_SCREEN.fullmatch(below)
        return bool(found and class_trace.is_on_screen(found[1] or found[2]))

    def _below(self, path: str) -> str | None:
        """The path below the base path; None outside of it."""
        return path.removeprefix(self.base) if path.startswith(f"{self.base}/") else None
