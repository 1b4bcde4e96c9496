"""The door: `streamlit run app.py`.

The app itself is `explorer/app/main.py`. What Streamlit would not do by itself stands here: serve
the player's plotly.js, compress for other machines, keep uploads to those who may send them,
and bring torch in while the browser is still busy with the frame of the page. Nothing comes
from the internet.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from explorer.app.server import probe_route, warmup
from explorer.app.server.static_files import Compressed, serve_plotly
from explorer.app.server.upload_guard import Gate


def base() -> str:
    """The path the app is served under: "" or "/…"."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """While the server lives: warm up, once."""
    warmup.begin()
    yield


app = st.App(
    "explorer/app/main.py",
    routes=[
        Route(f"{base()}/plotly.min.js", serve_plotly),
        Route(f"{base()}{probe_route.PATH}", probe_route.serve_moment),
    ],
    middleware=[Middleware(Gate), Middleware(Compressed, base=base())],
    lifespan=lifespan,
)
