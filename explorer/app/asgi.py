"""The server's additions to Streamlit's own routes: plotly.js, the script of the components, the
probe traces of a run, answers about the traces on screen, compression for other machines, the
server's address for pages opened directly, and checks of origins and late messages; in class mode,
the host's page and cookie, the exchange with guests, and their site. Nothing comes from the
internet.

What only an answer or a class needs is imported late: the server answers sooner.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from importlib import import_module

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.app.server import access, paths, preparation, server_address
from explorer.app.server.broken_requests import BrokenRequests
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
        # By POST a page that is not drawn asks whether it is refused.
        Route(f"{base}{server_address.PATH}", server_address.serve_script, methods=["GET", "POST"]),
        Route(base + paths.PROBE, _imported_late("explorer.app.server.probe_route")),
        Route(base + paths.QUESTION, _imported_late("explorer.app.server.trace_route")),
        Route(base + paths.TRACE, _imported_late("explorer.app.explore_route"), methods=["POST"]),
        Route(
            base + paths.FETCH,
            _imported_late("explorer.app.server.fetch_route"),
            methods=["GET", "POST", "DELETE"],
        ),
        *(_class_routes(base) if access.is_class_mode() else ()),
    ]


def _imported_late(module: str) -> Callable[[Request], Awaitable[Response]]:
    """The function `serve` of a module that a server without a visitor does not need. It is
    imported while the browser loads the page, see `preparation`."""

    async def serve(request: Request) -> Response:
        imported = await run_in_threadpool(import_module, module)
        answer: Response = await imported.serve(request)
        return answer

    return serve


def _class_routes(base: str) -> list[Route]:
    from explorer.app.server import (
        class_route,
        class_trace,
        class_training,
        host_cookie,
        host_page,
    )

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
    return [
        Middleware(BrokenRequests),
        Middleware(OriginCheck),
        Middleware(SecurityHeaders),
        *(_class_middleware(base) if access.is_class_mode() else ()),
        Middleware(LateTimers),
        Middleware(CompressedScripts, base=base),
        Middleware(ServerAddress),
    ]


def _class_middleware(base: str) -> list[Middleware]:
    from explorer.app.server.class_route import EventStreams
    from explorer.app.server.guest_gate import GuestGate

    return [Middleware(GuestGate, base=base), Middleware(EventStreams, base=base)]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Log which files of languages cannot be used, limit traces where others have some of their own
    and do slow work in the background when the server starts; limit what requests log while it
    runs."""
    if not answers_this_machine_alone():
        share_memory()
    log_unusable_languages()
    preparation.start(base_path())
    with ExitStack() as served:
        served.enter_context(limited_warnings(*_LOGGERS))
        if access.is_class_mode():
            from explorer.app.server.class_route import ended_by_signals

            served.enter_context(ended_by_signals())
        yield
