"""Which messages of a browser reach Streamlit."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from explorer.app.server.back_messages import KINDS, OPERATIONS, BackMessageGuard

DRAW = 2 * BackMsg(app_heartbeat=True).SerializeToString()


def drawn() -> bytes:
    """The message that draws a component."""
    message = ForwardMsg()
    message.delta.new_element.bidi_component.id = "drawn"
    return message.SerializeToString()


async def stream(websocket: WebSocket) -> None:
    """Answers as Streamlit does while a script runs: it also sends after the connection ended."""
    await websocket.accept()
    try:
        while True:
            data = await websocket.receive_bytes()
            await websocket.send_bytes(drawn() if data == DRAW else data)
    except WebSocketDisconnect:
        await websocket.send_bytes(b"late")


@pytest.fixture(scope="module")
def browser() -> Iterator[TestClient]:
    routes = [WebSocketRoute("/stream", stream)]
    app = Starlette(routes=routes, middleware=[Middleware(BackMessageGuard)])
    with TestClient(app) as client:
        yield client


def message(kind: str, operation: str = "") -> bytes:
    """A message of this kind, empty."""
    sent = BackMsg()
    if operation:
        getattr(sent.backend_operation_request, operation).SetInParent()
    elif sent.DESCRIPTOR.fields_by_name[kind].message_type is None:
        setattr(sent, kind, True)
    else:
        getattr(sent, kind).SetInParent()
    return sent.SerializeToString()


ALL_KINDS = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
REQUEST = BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type
ALL_OPERATIONS = {field.name for field in REQUEST.oneofs_by_name["payload"].fields}
PASS = [message(kind) for kind in sorted(KINDS)] + [
    message("", name) for name in sorted(OPERATIONS)
]
LEFT_OUT = [
    b"",
    *(message(kind) for kind in sorted(ALL_KINDS - KINDS)),
    *(message("", name) for name in sorted(ALL_OPERATIONS - OPERATIONS)),
]


def test_what_a_page_sends_passes_and_nothing_else(browser):
    assert message("clear_cache") in LEFT_OUT
    assert message("", "install_skills") in LEFT_OUT
    with browser.websocket_connect("/stream") as connection:
        for data in LEFT_OUT:
            connection.send_bytes(data)
        for data in PASS:
            connection.send_bytes(data)
            assert connection.receive_bytes() == data


def reported(value: str) -> bytes:
    """The message of a component that reports this value."""
    sent = BackMsg()
    sent.rerun_script.widget_states.widgets.add(id="player", json_value=value)
    return sent.SerializeToString()


@pytest.mark.parametrize("value", ["{}", "null", '{"selection": {"step": NaN}}'])
def test_what_a_component_reports_passes(browser, value):
    with browser.websocket_connect("/stream") as connection:
        connection.send_bytes(reported(value))
        assert connection.receive_bytes() == reported(value)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"text": "hello"}, 1003),
        ({"bytes": b"\xff" * 40}, 1002),
        *(({"bytes": reported(value)}, 1002) for value in ["{", '"x"', "[" * 99_999, "9" * 5_000]),
    ],
)
def test_what_is_no_message_ends_the_connection(browser, frame, code):
    with browser.websocket_connect("/stream") as connection:
        connection.send({"type": "websocket.receive", **frame})
        with pytest.raises(WebSocketDisconnect) as ended:
            connection.receive_bytes()
    assert ended.value.code == code


def test_a_value_of_another_kind_than_its_widget_s_ends_the_connection(browser):
    sent = BackMsg()
    sent.rerun_script.widget_states.widgets.add(id="drawn", int_value=3)
    with browser.websocket_connect("/stream") as connection:
        connection.send_bytes(DRAW)
        assert connection.receive_bytes() == drawn()
        connection.send_bytes(sent.SerializeToString())
        with pytest.raises(WebSocketDisconnect) as ended:
            connection.receive_bytes()
    assert ended.value.code == 1002
