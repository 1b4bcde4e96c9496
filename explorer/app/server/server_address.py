"""Additions to Streamlit's page: where the server and the script of the components are, content
until Streamlit draws something, or why it never does, when to add to the browser's history, when to
close the menu of a narrow window, the memory of the chosen language, the room for the parts of the
header, and scrolling to a message on a narrow window.

Without the address, a page opened directly, such as /train, first asks for /train/_stcore/health,
which does not exist, and the browser reports an error.
"""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server import loading_page
from explorer.app.server.static_files import MAX_AGE, Application, Message, Receive, Send
from explorer.components.bundle import components_address, script

PATH = "/server_address.js"

SCRIPT = Path(__file__).with_suffix(".js")
_HEAD = b"<head>"
_BODY_END = b"</body>"
_ROOT = b'id="root"'  # where Streamlit draws
_OWN = (
    *("browser_history.js", "chosen_language.js", "header_room.js"),
    *("main_stop.js", "message_in_view.js", "refused_address.js"),
)
_INLINE = "".join(
    f"<script>{text}</script>"
    for text in (
        script("everything_start"),
        *(Path(__file__).with_name(name).read_text("utf-8") for name in _OWN),
    )
)
_AHEAD = f'<link rel="modulepreload" href="./{components_address()}">'
"""The script of the components comes while Streamlit starts."""

_ELEMENTS = f'<script src=".{PATH}"></script>{_AHEAD}{_INLINE}'.encode()
"""The addresses are relative, as those of Streamlit's own scripts: a proxy may put a prefix before
them."""


def serve_script(request: Request) -> Response:
    """The script that the page loads before Streamlit's own."""
    headers = {"Cache-Control": f"public, max-age={MAX_AGE}"}
    return Response(SCRIPT.read_bytes(), media_type="text/javascript", headers=headers)


class ServerAddress:
    """ASGI middleware: adds the scripts and the loading page to Streamlit's page."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        # Asked for without compression, so that the page can be changed.
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self.app({**scope, "headers": headers}, receive, _Inserting(send))


class _Inserting:
    """Passes an answer on. An HTML page is held back until complete; Streamlit's is sent with all
    additions."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.page: Message | None = None  # the start of the answer, held back until the body came
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self.page = message
            return
        if self.page is None:
            await self.send(message)
            return
        self.body += message.get("body", b"")
        if message.get("more_body"):
            return
        body = bytes(self.body)
        if _ROOT in body:
            body = body.replace(_HEAD, _HEAD + _ELEMENTS, 1)
            body = body.replace(_BODY_END, loading_page.element() + _BODY_END, 1)
        headers = MutableHeaders(scope=self.page)
        for name in ("ETag", "Last-Modified"):  # those of Streamlit's file
            del headers[name]
        if body:  # none in the answer to HEAD
            headers["Content-Length"] = str(len(body))
        await self.send(self.page)
        await self.send({"type": "http.response.body", "body": body})


def _is_page(start: Message) -> bool:
    """Whether this message starts an answer that is an HTML page."""
    kind = MutableHeaders(scope=start).get("content-type", "")
    return bool(start["status"] == 200 and kind.startswith("text/html"))
