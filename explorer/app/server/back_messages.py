"""Middleware before Streamlit's WebSocket route: only what the pages themselves send passes.

Streamlit takes every message from every session, such as the one that empties the caches of all
visitors, and answers a frame that is no message with a traceback in the log.
"""

import json

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from explorer.app.server.static_files import Application, Message, Receive, Send
from explorer.app.server.widget_kinds import WidgetKinds

KINDS = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
"""Messages about the visitor's own session."""

OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""What else a page asks for: a download, and rows of a table."""

_JSON_VALUES = ("json_value", "json_trigger_value")
_CONTAINERS = (dict, list, type(None))
_OPERATION = "backend_operation_request"
_NOT_BINARY, _NOT_A_MESSAGE = 1003, 1002  # close codes of RFC 6455


class BackMessageGuard:
    """ASGI middleware that leaves out what no page sends, and closes on what is no message."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self._widgets = WidgetKinds()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        closed = False

        async def receive_checked() -> Message:
            nonlocal closed
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                data = message.get("bytes")
                sent = None if data is None else self._parse(data)
                if sent is None:
                    closed = True
                    code = _NOT_BINARY if data is None else _NOT_A_MESSAGE
                    await send({"type": "websocket.close", "code": code})
                    return {"type": "websocket.disconnect", "code": code}
                if _is_sent_by_pages(sent):
                    return message

        async def send_while_open(message: Message) -> None:
            if data := message.get("bytes"):
                self._widgets.learn(data)
            if not closed:  # Streamlit does not know yet
                await send(message)

        await self.app(scope, receive_checked, send_while_open)

    def _parse(self, data: bytes) -> BackMsg | None:
        """The message in a frame; None when there is none, or a value in it is none of its
        widget: Streamlit would keep it, and fail to read it in every later run."""
        try:
            message = BackMsg.FromString(data)
            widgets = message.rerun_script.widget_states.widgets
            return message if all(map(self._is_readable, widgets)) else None
        except (DecodeError, ValueError, RecursionError):
            return None

    def _is_readable(self, widget: WidgetState) -> bool:
        return self._widgets.fits(widget) and isinstance(_component_value(widget), _CONTAINERS)


def _component_value(widget: WidgetState) -> object:
    """What a component reports, read from JSON; None for another widget. Raises `ValueError`."""
    kind = widget.WhichOneof("value")
    return json.loads(getattr(widget, kind)) if kind in _JSON_VALUES else None


def _is_sent_by_pages(message: BackMsg) -> bool:
    kind = message.WhichOneof("type")
    if kind == _OPERATION:
        return message.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind in KINDS
