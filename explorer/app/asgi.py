"""The server's additions to Streamlit's own routes: plotly.js, the script of the components, the
probe traces of a run, answers about the traces on screen, compression for other machines, the
server's address for pages opened directly, and checks of origins and late messages; in class mode,
the host's page and cookie, the exchange with guests, and their site. Nothing comes from the
internet.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from explorer.app import explore_route
from explorer.app.server import (
    access,
    class_route,
    class_trace,
    class_training,
    host_cookie,
    host_page,
    preparation,
    probe_route,
    server_address,
    trace_route,
)
from explorer.app.server.broken_requests import BrokenRequests
from explorer.app.server.guest_gate import GuestGate
from explorer.app.server.log_limit import limited_warnings
from explorer.app.server.origin_check import OriginCheck, answers_this_machine_alone
from explorer.app.server.page_changes import LateTimers
from explorer.app.server.security_headers import SecurityHeaders
from explorer.app.server.server_address import ServerAddress
from explorer.app.server.static_files import CompressedScripts, serve_components, serve_plotly
from explorer.components.bundle import COMPONENTS
from explorer.core import folders
from explorer.core.language_file_check import log_unusable_languages
from explorer.core.trace_size import share_memory

MAIN = folders.PACKAGE / "app" / "main.py"
"""The script Streamlit runs for each visitor."""

_LOGGERS = (OriginCheck.__module__, "uvicorn.error")
"""Loggers of refused requests: from another host or origin, or not HTTP."""


def base_path() -> str:
    """The URL path the app is served under: "" or "/…"."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def routes() -> list[Route]:
    """The routes beside Streamlit's own."""
    base = base_path()
    return [
        Route(f"{base}/plotly.min.js", serve_plotly),
        Route(f"{base}/{COMPONENTS.name}", serve_components),
        Route(f"{base}{server_address.PATH}", server_address.serve_script),
        Route(f"{base}{probe_route.PATH}", probe_route.serve_moment),
        Route(f"{base}{trace_route.PATH}", trace_route.serve),
        Route(f"{base}{explore_route.PATH}", explore_route.serve, methods=["POST"]),
        *(_class_routes(base) if access.is_class_mode() else ()),
    ]


def _class_routes(base: str) -> list[Route]:
    return [
        Route(f"{base}{host_page.PATH}", host_page.serve),
        Route(f"{base}{host_cookie.PATH}", host_cookie.set_cookie, methods=["POST"]),
        Route(f"{base}{class_trace.PATH}", class_trace.serve),
        Route(f"{base}{class_training.PATH}", class_training.serve),
        *class_route.routes(base),
    ]


def middleware() -> list[Middleware]:
    """The middleware in front of Streamlit's own, the outermost first."""
    base = base_path()
    of_class = (
        [Middleware(GuestGate, base=base), Middleware(class_route.EventStreams, base=base)]
        if access.is_class_mode()
        else []
    )
    return [
        Middleware(BrokenRequests),
        Middleware(OriginCheck),
        Middleware(SecurityHeaders),
        *of_class,
        Middleware(LateTimers),
        Middleware(CompressedScripts, base=base),
        Middleware(ServerAddress),
    ]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Log which files of languages cannot be used, limit traces where others have some of their own
    and do slow work in the background when the server starts; limit what requests log while it
    runs."""
    if not answers_this_machine_alone():
        share_memory()
    log_unusable_languages()
    preparation.start(base_path())
    with limited_warnings(*_LOGGERS), class_route.ended_by_signals():
        yield
