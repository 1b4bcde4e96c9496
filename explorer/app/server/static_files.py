"""What travels to a browser, and how large: plotly.js for the player, and compression.

Streamlit sends its own scripts as they are. To this machine's own browser that is quickest; in
a classroom forty of them share one Wi-Fi, and compressed they are a third.
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

from explorer.components.shared.bundle import PLOTLY

KEPT_FOR = 30 * 24 * 3600
"""Seconds a browser keeps plotly.js before it asks whether there is another one."""

_STATIC = Path(streamlit.__file__).parent / "static"
_KINDS = {".js": "text/javascript", ".css": "text/css"}
_SMALLEST = 1024
"""Bytes below which compression is not worth the header."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def serve_plotly(request: Request) -> Response:
    """plotly.js from the installed package, or word that the browser has it already."""
    compressed, mark = _plotly()
    headers = {
        "Cache-Control": f"public, max-age={KEPT_FOR}",
        "ETag": mark,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(compressed, media_type="text/javascript", headers=headers)
    return Response(PLOTLY.read_bytes(), media_type="text/javascript", headers=headers)


def prepare() -> None:
    """Compress plotly.js before somebody waits for it."""
    _plotly()


class Compressed:
    """Streamlit's scripts and style sheets, compressed once, for browsers on other machines."""

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
        kind = _KINDS[Path(scope["path"]).suffix]
        await Response(data, headers=headers, media_type=kind)(scope, receive, send)

    def _find(self, request: Request) -> bytes | None:
        """The compressed file a request asks for; None leaves it to Streamlit."""
        path = request.url.path
        near = request.client is None or request.client.host in ("127.0.0.1", "::1")
        able = "gzip" in request.headers.get("accept-encoding", "")
        if near or not able or request.method != "GET" or not path.startswith(self.prefix):
            return None
        file = _scripts().get("static/" + path.removeprefix(self.prefix))
        return _compressed(file) if file else None


@cache
def _plotly() -> tuple[bytes, str]:
    """plotly.js, compressed, and the mark by which a browser knows it again."""
    source = PLOTLY.read_bytes()
    return gzip.compress(source, compresslevel=6, mtime=0), f'"{sha256(source).hexdigest()[:16]}"'


@cache
def _scripts() -> dict[str, Path]:
    """Streamlit's scripts and style sheets by their path below its folder: nothing else of a
    request's path is ever looked for on the disk."""
    files = (file for kind in _KINDS for file in (_STATIC / "static").rglob(f"*{kind}"))
    return {file.relative_to(_STATIC).as_posix(): file for file in files}


@cache
def _compressed(file: Path) -> bytes | None:
    """The contents of a file, compressed; None where that is not worth it."""
    source = file.read_bytes()
    return gzip.compress(source, compresslevel=6, mtime=0) if len(source) > _SMALLEST else None
