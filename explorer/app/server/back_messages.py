"""Middleware before Streamlit's WebSocket route: only messages that the pages themselves send pass.

Streamlit takes every message from every session, such as the one that empties the caches of all
visitors, and answers a frame that is no message with a traceback in the log. It also keeps a value
for a widget that it has not drawn, and fails with a traceback when it draws it. Timer requests of a
page that was left do not pass either, see `page_changes`.
"""

from typing import Any

import msgspec
from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

from explorer.app.server.page_changes import PageOnScreen
from explorer.app.server.static_files import Application, Message, Receive, Send
from explorer.app.server.widget_kinds import WidgetKinds
from explorer.core import json_values

KINDS = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
"""Messages about the visitor's own session."""

OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Other requests of a page: a download, and rows of a table."""

LARGEST_MESSAGE = 2**20
"""Bytes. A page sends a hundredth of them; JSON takes fifty times its size when it is read."""

_JSON_VALUES = ("json_value", "json_trigger_value")
_CONTAINERS = (dict, list, type(None))
_OPERATION = "backend_operation_request"
_NOT_BINARY, _NOT_A_MESSAGE, _TOO_LARGE = 1003, 1002, 1009  # close codes of RFC 6455


class ChosenInTable(msgspec.Struct):
    """Rows by number, columns by name, and cells by both."""

    rows: list[int] = []
    columns: list[str] = []
    cells: list[list[Any]] = []


class TableReport(msgspec.Struct):
    """The report of a table."""

    selection: ChosenInTable


class BackMessageGuard:
    """ASGI middleware that drops messages no page sends, and closes the connection on a frame that
    is no message."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self._widgets = WidgetKinds()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        closed, page = False, PageOnScreen()

        async def receive_checked() -> Message:
            nonlocal closed
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                sent = self._parse(message.get("bytes"))
                if isinstance(sent, int):
                    closed = True
                    await send({"type": "websocket.close", "code": sent})
                    return {"type": "websocket.disconnect", "code": sent}
                if _is_sent_by_pages(sent) and not page.is_late(sent.rerun_script):
                    return {**message, "bytes": sent.SerializeToString()}

        async def send_while_open(message: Message) -> None:
            if data := message.get("bytes"):
                self._widgets.learn(data)
                page.learn(data)
            if not closed:  # Streamlit does not know yet
                await send(message)

        try:
            await self.app(scope, receive_checked, send_while_open)
        finally:
            page.close()

    def _parse(self, data: bytes | None) -> BackMsg | int:
        """The message in a frame, without values of widgets that no page has. Otherwise the code to
        close the connection with: if the frame is no message, or if a value is of the wrong kind
        for its widget. Streamlit would keep such a value and fail to read it in every later run."""
        if data is None:
            return _NOT_BINARY
        if len(data) > LARGEST_MESSAGE:
            return _TOO_LARGE
        try:
            message = BackMsg.FromString(data)
            states = message.rerun_script.widget_states
            drawn = [one for one in states.widgets if self._widgets.kind(one.id)]
            if not all(map(self._is_readable, drawn)):
                return _NOT_A_MESSAGE
        except (DecodeError, ValueError, RecursionError):
            return _NOT_A_MESSAGE
        if len(drawn) < len(states.widgets):
            states.CopyFrom(WidgetStates(widgets=drawn))
        return message

    def _is_readable(self, widget: WidgetState) -> bool:
        """Whether a widget can read this value. Raises `ValueError`."""
        kind = widget.WhichOneof("value")
        if kind not in (None, self._widgets.kind(widget.id)):
            return False
        if kind is not None and self._widgets.is_table(widget.id):
            msgspec.convert(json_values.parse_object(widget.string_value), TableReport)
        return isinstance(_component_value(widget), _CONTAINERS)


def _component_value(widget: WidgetState) -> object:
    """The report of a component, read from JSON that Streamlit, which recurses, can copy. None for
    another widget. Raises `ValueError`."""
    kind = widget.WhichOneof("value")
    return json_values.parse(getattr(widget, kind)) if kind in _JSON_VALUES else None


def _is_sent_by_pages(message: BackMsg) -> bool:
    kind = message.WhichOneof("type")
    if kind == _OPERATION:
        return message.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind in KINDS
