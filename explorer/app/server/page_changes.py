"""The page a browser is on, so that timers of a page it has left request nothing more.

Train draws its replay again every second: a timer in the browser requests it until the next page
arrives. Streamlit handles such a late request after the next page and tells the browser that it is
back on the page it left. The browser then removes the next page, and only "Loading …" remains. Or
Streamlit merges the message with the change of page, and draws the old page with the address of the
next one.
"""

import threading

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from explorer.app.server.static_files import Application, Message, Receive, Send

_left: dict[str, str] = {}  # session → page that a script has left but a browser has not
_lock = threading.Lock()


def leave(session: str, page: str) -> None:
    """Note that a script is about to go to another page. session, page: Streamlit's id and hash."""
    with _lock:
        _left[session] = page


class LateTimers:
    """ASGI middleware that drops what a timer of a page that was left requests."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        page = PageOnScreen()

        async def receive_in_time() -> Message:
            while True:
                message = await receive()
                if not page.is_late(_asked_in(message.get("bytes"))):
                    return message

        async def send_noted(message: Message) -> None:
            if data := message.get("bytes"):
                page.learn(data)
            await send(message)

        try:
            await self.app(scope, receive_in_time, send_noted)
        finally:
            page.close()


class PageOnScreen:
    """The page of one connection, by Streamlit's hash; "" before the first."""

    def __init__(self) -> None:
        self._session = ""
        self._page = ""

    def learn(self, data: bytes) -> None:
        """Note the page that a message to the browser starts, if it starts one.

        A run of the whole script begins before the page of the URL is known; the navigation names
        it a moment later.
        """
        try:
            message = ForwardMsg.FromString(data)
        except DecodeError:
            return
        begun = message.new_session
        self._session = begun.initialize.session_id or self._session
        if message.HasField("navigation"):
            page = message.navigation.page_script_hash
        elif message.HasField("new_session") and begun.page_script_hash != begun.main_script_hash:
            page = begun.page_script_hash
        else:
            return
        self._page = page
        with _lock:
            if _left.get(self._session) != self._page:
                _left.pop(self._session, None)

    def is_late(self, asked: ClientState) -> bool:
        """Whether the request comes from a timer of a page that was left. Other requests name the
        page."""
        page = asked.page_script_hash
        if not asked.is_auto_rerun:
            if page and not asked.fragment_id:
                self._page = page
            return False
        with _lock:
            left = _left.get(self._session)
        return bool(self._page) and (page != self._page or page == left)

    def close(self) -> None:
        """Forget the session of a connection that has ended."""
        with _lock:
            _left.pop(self._session, None)


def _asked_in(data: bytes | None) -> ClientState:
    """The run of a script that a frame asks for; an empty one if it asks for none."""
    try:
        return BackMsg.FromString(data or b"").rerun_script
    except DecodeError:  # Streamlit says so
        return ClientState()
