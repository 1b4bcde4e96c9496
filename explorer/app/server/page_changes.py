"""Which page a browser is on, so that the timers of a page that it has left ask for nothing more.

Train draws its replay anew every second: the browser asks for that by a timer, which goes on until
the next page arrives. Streamlit runs what such a late message asks for after the next page, tells
the browser that it is back on the page it left, and the browser removes the next page: what is left
is "Loading …". Or it merges the message with the change of the page, and draws the left page with
the address of the next one.
"""

import threading

from google.protobuf.message import DecodeError
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_left: dict[str, str] = {}  # by session, the page that a script has left and a browser has not
_lock = threading.Lock()


def leave(session: str, page: str) -> None:
    """Note that a script is about to go to another page. session, page: Streamlit's id and hash."""
    with _lock:
        _left[session] = page


class PageOnScreen:
    """The page of one connection, by Streamlit's hash; "" before the first."""

    def __init__(self) -> None:
        self._session = ""
        self._page = ""

    def learn(self, data: bytes) -> None:
        """Note the page that a message to the browser begins, if it begins one.

        A run of the whole script begins before it is known which page a URL names: the navigation
        says so a moment later.
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
        """Whether a timer of a page asks that was left; what else is asked for names the page."""
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
