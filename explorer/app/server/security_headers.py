"""Headers that tell browsers what a page of the app may do.

EXPLORER_FRAME_ANCESTORS    pages that may show the app in a frame, such as a learning platform:
                            "https://moodle.example.org https://*.example.edu"
"""

import os
import re

from starlette.datastructures import Headers, MutableHeaders

from explorer.app.server.static_files import Application, Message, Receive, Send

FRAMES_VARIABLE = "EXPLORER_FRAME_ANCESTORS"

_ANCESTOR = re.compile(r"[A-Za-z0-9*.:/\[\]'_-]+", re.ASCII)

_POLICY = "; ".join(
    [
        "default-src 'self'",
        # Streamlit mounts the script of a component as a module from memory.
        # A guest's page decodes with WebAssembly.
        "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:",
        "worker-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "connect-src 'self' {streams}",
        "frame-ancestors {ancestors}",
    ]
)


class SecurityHeaders:
    """Adds the headers to every answer."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        policy = _policy(Headers(scope=scope).get("host", ""))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"  # a permalink carries the typed text
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _policy(host: str) -> str:
    """The content security policy of a page served under `host`, a checked Host header."""
    # Older browsers do not count a WebSocket of the same host as 'self'.
    return _POLICY.format(streams=f"ws://{host} wss://{host}", ancestors=_ancestors())


def _ancestors() -> str:
    """The pages that may frame the app. Without a setting, only its own pages."""
    named = os.environ.get(FRAMES_VARIABLE, "").split()
    return " ".join(["'self'", *filter(_ANCESTOR.fullmatch, named)])
