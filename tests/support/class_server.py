"""A class without an app: the static site as guests get it, beside the routes of a class."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from explorer.app.server import class_route

HostTraces = dict[str, bytes]
"""Payloads of the player, by key."""


@contextmanager
def running_class(site: Path, traces: HostTraces) -> Iterator[str]:
    """Serve a class until the block ends; its address. In class mode alone, see `access`."""
    application = _application(site, traces)
    server = uvicorn.Server(uvicorn.Config(application, log_level="error", lifespan="off"))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        serving = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        serving.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = server.force_exit = True  # event streams would go on
        serving.join()


def _application(site: Path, traces: HostTraces) -> ASGIApp:
    page = (site / "index.html").read_text().replace("<html ", '<html data-class="" ', 1)

    async def trace(request: Request) -> Response:
        data = traces.get(request.path_params["key"])
        return Response(data, status_code=404 if data is None else 200)

    async def first_page(_: Request) -> Response:
        return HTMLResponse(page)

    app = Starlette(
        routes=[
            *class_route.routes(""),
            Route("/class/trace/{key}", trace),
            Route("/", first_page),
            Mount("/", StaticFiles(directory=site)),
        ]
    )
    return class_route.EventStreams(app, base="")
