"""Middleware before Streamlit's upload route: which sessions may upload, and how much.

Leaving the uploader off a page prevents nothing: Streamlit's route accepts files from every
session. So a guest in class mode is refused here, before the body is read, and the files each
session has on the server are limited.
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
"""Bytes that the encoding as a form adds to a file."""

_MOST_DIGITS = 12
"""Of a Content-Length header; Python refuses to read a number of thousands of digits."""

_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/([^/]+)", re.DOTALL)
"""Streamlit's route behind any base path; groups: session and file."""

_MOST_SESSIONS = 1024
_files_of: OrderedDict[str, set[str]] = OrderedDict()  # session → its files on the server
_lock = threading.Lock()


class UploadGuard:
    """ASGI middleware that passes an upload on to Streamlit or answers with one sentence."""

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

        async def count(message: Message) -> None:
            """Stop counting a file that Streamlit did not accept, or that it deleted."""
            if message["type"] == "http.response.start":
                failed = message["status"] >= 400
                if failed != deletes:
                    forget(session, file)
            await send(message)

        try:
            await self.app(scope, receive, count)
        except BaseException:  # the connection was closed during the upload
            if not deletes:
                forget(session, file)
            raise


def forget(session: str, file: str | None = None) -> None:
    """Stop counting a session's file, or all of them: the server has dropped them."""
    with _lock:
        files = _files_of.get(session, set())
        files.discard(file or "")
        if file is None or not files:
            _files_of.pop(session, None)


def _refusal(request: Request, session: str, file: str) -> PlainTextResponse | None:
    """The answer that refuses a request. None if the request is allowed; it is then counted."""
    if access.is_class_mode() and not access.is_host_session(session):
        return _sentence(403, "upload_host_only", request)
    if request.method == "DELETE":
        return None
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal()):
        return _sentence(411, "upload_length_unknown", request)
    if len(length) > _MOST_DIGITS or int(length) > LARGEST + _FRAME:
        return _sentence(413, "upload_too_large", request)
    if not _add(session, file):
        return _sentence(413, "upload_too_many", request)
    return None


def _add(session: str, file: str) -> bool:
    """Count a file that is about to be sent. False if the session has too many.

    A file id in use is refused: if its upload failed, the first file would not be counted.
    """
    with _lock:
        files = _files_of.setdefault(session, set())
        if file in files or len(files) >= MOST_FILES:
            return False
        files.add(file)
        _files_of.move_to_end(session)
        if len(_files_of) > _MOST_SESSIONS:
            _files_of.popitem(last=False)
        return True


def _sentence(status: int, name: str, request: Request) -> PlainTextResponse:
    """A refusal in the browser's language."""
    wanted = request.headers.get("accept-language", "").lower()[:2]
    language = wanted if wanted in LANGUAGES else "en"
    text = say(f"classroom.{name}", language, limit=LARGEST // 2**20, count=MOST_FILES)
    return PlainTextResponse(text, status_code=status)
