"""Static files, compressed with gzip: plotly.js, the script of the components, and Streamlit's own
scripts.

Streamlit sends its scripts uncompressed. For a browser on the same machine that is fastest; over a
network, compressed, they are a third of the size.
"""

import gzip
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit
from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.rate_limit import address_of
from explorer.components.bundle import COMPONENTS, PLOTLY

MAX_AGE = 30 * 24 * 3600
"""Seconds a browser may use its cached copy without asking."""

_STATIC = Path(streamlit.__file__).parent / "static"
_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
_SMALLEST = 1024
"""Bytes below which a file is not compressed."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def serve_plotly(request: Request) -> Response:
    """plotly.js, for the components."""
    return _answer(request, PLOTLY)


def serve_components(request: Request) -> Response:
    """The script of all components."""
    return _answer(request, COMPONENTS)


def prepare() -> None:
    """Compress both scripts before the first request for them."""
    for source in (COMPONENTS, PLOTLY):
        _with_etag(source)


def _answer(request: Request, source: Path) -> Response:
    """A script, compressed; 304 when the browser's copy is current."""
    compressed, etag = _with_etag(source)
    headers = {
        "Cache-Control": f"public, max-age={MAX_AGE}",
        "ETag": etag,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(compressed, media_type="text/javascript", headers=headers)
    return Response(source.read_bytes(), media_type="text/javascript", headers=headers)


class CompressedScripts:
    """ASGI middleware: Streamlit's scripts and style sheets, compressed, for other machines.

    base: the URL path the app is served under, "" or "/…".
    """

    def __init__(self, app: Application, base: str = "") -> None:
        self.app = app
        self.prefix = f"{base}/static/"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        data = self._find(Request(scope)) if scope["type"] == "http" else None
        if data is None:
            await self.app(scope, receive, send)
            return
        headers = {
            "Cache-Control": "public, immutable, max-age=31536000",  # names carry a hash
            "Content-Encoding": "gzip",
            "Vary": "Accept-Encoding",
        }
        media_type = _MEDIA_TYPES[Path(scope["path"]).suffix]
        await Response(data, headers=headers, media_type=media_type)(scope, receive, send)

    def _find(self, request: Request) -> bytes | None:
        """The compressed file of a request, or None to leave the request to Streamlit."""
        path = request.url.path
        local = address_of(request) in ("", "127.0.0.1", "::1")
        accepts_gzip = "gzip" in request.headers.get("accept-encoding", "")
        if local or not accepts_gzip or request.method != "GET" or not path.startswith(self.prefix):
            return None
        file = _scripts().get("static/" + path.removeprefix(self.prefix))
        return _compressed(file) if file else None


@cache
def _with_etag(file: Path) -> tuple[bytes, str]:
    """A file, compressed, and its ETag."""
    source = file.read_bytes()
    return gzip.compress(source, compresslevel=6, mtime=0), f'"{sha256(source).hexdigest()[:16]}"'


@cache
def _scripts() -> dict[str, Path]:
    """Streamlit's scripts and style sheets by their path below its folder. A request's path is only
    looked up here, never used as a path on the disk."""
    files = (file for ending in _MEDIA_TYPES for file in (_STATIC / "static").rglob(f"*{ending}"))
    return {file.relative_to(_STATIC).as_posix(): file for file in files}


@cache
def _compressed(file: Path) -> bytes | None:
    """The contents of a file, compressed, or None for a small file."""
    source = file.read_bytes()
    return gzip.compress(source, compresslevel=6, mtime=0) if len(source) > _SMALLEST else None
