"""The gate before Streamlit's upload route: who may send a file, and how much.

A page without an uploader does not keep anybody from sending: the route itself is open to
whoever has a session. So a guest of a classroom is refused here, before a byte is read, and
what a session may have lying on the server is bounded for everybody.
"""

import re
import threading
from collections import OrderedDict

from starlette.requests import Request
from starlette.responses import PlainTextResponse

from explorer.app.server import access
from explorer.app.server.static_files import Application, Message, Receive, Send
from explorer.core.i18n import LANGUAGES, say

MOST_FILES = 4
"""Files of one session at a time."""

LARGEST = 64 * 2**20
"""Bytes of one file."""

_FRAME = 2**16
"""Bytes a browser adds around a file when it sends it as a form."""

_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/([^/]+)", re.DOTALL)
"""As Streamlit's route, behind any base path: session and file."""

_MOST_SESSIONS = 1024
_held: OrderedDict[str, set[str]] = OrderedDict()  # session → its files on the server
_lock = threading.Lock()


class Gate:
    """Lets uploads through to Streamlit, or answers with one sentence."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        upload = _UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if upload is None or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        session, file = upload.groups()
        refused = _refusal(Request(scope), session, file)
        if refused is not None:
            await refused(scope, receive, send)
            return

        deletes = scope["method"] == "DELETE"

        async def watch(message: Message) -> None:
            """Count what Streamlit has taken and not dropped."""
            if message["type"] == "http.response.start":
                failed = message["status"] >= 400
                if failed != deletes:
                    forget(session, file)
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except BaseException:  # the browser left half-way: nothing came
            if not deletes:
                forget(session, file)
            raise


def forget(session: str, file: str | None = None) -> None:
    """A session's file, or all of them, are no longer on the server: they do not count."""
    with _lock:
        files = _held.get(session, set())
        files.discard(file or "")
        if file is None or not files:
            _held.pop(session, None)


def _refusal(request: Request, session: str, file: str) -> PlainTextResponse | None:
    """Why a request may not pass; None when it may, and then it is counted."""
    if access.is_classroom() and not access.is_host_session(session):
        return _sentence(403, "upload_host_only", request)
    if request.method == "DELETE":
        return None
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal()):
        return _sentence(411, "upload_length_unknown", request)
    if int(length) > LARGEST + _FRAME:
        return _sentence(413, "upload_too_large", request)
    if not _count(session, file):
        return _sentence(413, "upload_too_many", request)
    return None


def _count(session: str, file: str) -> bool:
    """Note a file that is about to come; False when the session has as many as it may.

    A name that is there already is refused: what fails under it would be no longer counted.
    """
    with _lock:
        files = _held.setdefault(session, set())
        if file in files or len(files) >= MOST_FILES:
            return False
        files.add(file)
        _held.move_to_end(session)
        if len(_held) > _MOST_SESSIONS:
            _held.popitem(last=False)
        return True


def _sentence(status: int, name: str, request: Request) -> PlainTextResponse:
    """An answer in the browser's language."""
    wanted = request.headers.get("accept-language", "").lower()[:2]
    language = wanted if wanted in LANGUAGES else "en"
    text = say(f"classroom.{name}", language, limit=LARGEST // 2**20, count=MOST_FILES)
    return PlainTextResponse(text, status_code=status)
