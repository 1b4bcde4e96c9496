"""Which messages of a browser reach Streamlit."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from explorer.app.server.back_messages import (
    KINDS,
    LARGEST_MESSAGE,
    OPERATIONS,
    BackMessageGuard,
)

VALUES = {"string_value": "x", "bytes_value": b"x", "json_value": "{}", "json_trigger_value": "[]"}
DRAW = BackMsg(app_heartbeat=False).SerializeToString()


def drawn() -> bytes:
    """The message that draws a component."""
    message = ForwardMsg()
    message.delta.new_element.bidi_component.id = "player"
    return message.SerializeToString()


def drawn_table() -> bytes:
    """The message that draws a table."""
    message = ForwardMsg()
    message.delta.new_element.dataframe.id = "roles"
    return message.SerializeToString()


def begun() -> bytes:
    """The message with which a run of Explore begins."""
    message = ForwardMsg()
    message.new_session.page_script_hash = "explore"
    return message.SerializeToString()


BEGIN = BackMsg(file_urls_request={"request_id": "begin"}).SerializeToString()
DRAW_TABLE = BackMsg(stop_script=False).SerializeToString()
DRAWN = {DRAW: drawn(), DRAW_TABLE: drawn_table(), BEGIN: begun()}


async def stream(websocket: WebSocket) -> None:
    """Answers as Streamlit does while a script runs: it also sends after the connection ended."""
    await websocket.accept()
    try:
        while True:
            data = await websocket.receive_bytes()
            await websocket.send_bytes(DRAWN.get(data, data))
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


def timed(page: str) -> bytes:
    """The message of a timer of a page."""
    sent = BackMsg()
    sent.rerun_script.page_script_hash = page
    sent.rerun_script.fragment_id = "replay"
    sent.rerun_script.is_auto_rerun = True
    return sent.SerializeToString()


def test_the_timer_of_a_page_that_was_left_is_left_out(browser):
    with browser.websocket_connect("/stream") as connection:
        connection.send_bytes(BEGIN)
        assert connection.receive_bytes() == begun()
        for page in ("train", "explore", "train"):
            connection.send_bytes(timed(page))
        connection.send_bytes(DRAW)
        assert connection.receive_bytes() == timed("explore")
        assert connection.receive_bytes() == drawn()


def states(*widgets: WidgetState) -> bytes:
    """The message that runs the page with these values."""
    sent = BackMsg()
    sent.rerun_script.query_string = "x=1"
    sent.rerun_script.widget_states.widgets.extend(widgets)
    return sent.SerializeToString()


def reported(value: str) -> bytes:
    """The message of a component that reports this value."""
    return states(WidgetState(id="player", json_value=value))


ODD_JSON = ["{", '"x"', "[" * 99_999, "[" * 500 + "]" * 500, "9" * 5_000]


@pytest.fixture
def page(browser) -> Iterator[WebSocketTestSession]:
    """A connection on which the component has been drawn."""
    with browser.websocket_connect("/stream") as connection:
        connection.send_bytes(DRAW)
        assert connection.receive_bytes() == drawn()
        yield connection


def chosen(value: str) -> bytes:
    """The message of a table in which this was chosen."""
    return states(WidgetState(id="roles", string_value=value))


def test_the_rows_that_are_chosen_in_a_table_pass(page):
    page.send_bytes(DRAW_TABLE)
    page.receive_bytes()
    for value in (
        '{"selection": {"rows": [], "columns": [], "cells": []}}',
        '{"selection": {"rows": [3], "columns": ["copy"], "cells": [[0, "copy"]]}}',
        '{"selection": {}}',
    ):
        page.send_bytes(chosen(value))
        assert page.receive_bytes() == chosen(value)


@pytest.mark.parametrize(
    "value",
    [
        *("", "{", "[]", "3", "{}", '{"selection": []}', '{"selection": null}'),
        *(f'{{"selection": {{"rows": {rows}}}}}' for rows in ("3", '["x"]', "[1.5]", "[true]")),
        *('{"selection": {"columns": [1]}}', '{"selection": {"cells": [1]}}'),
        f'{{"selection": {{"rows": [{2**70}]}}}}',
        '{"selection": {"rows": ' + "[" * 9_999,
    ],
)
def test_what_no_table_reports_ends_the_connection(page, value):
    page.send_bytes(DRAW_TABLE)
    page.receive_bytes()
    page.send_bytes(chosen(value))
    with pytest.raises(WebSocketDisconnect) as ended:
        page.receive_bytes()
    assert ended.value.code == 1002


def event(value: str) -> bytes:
    """The message of a component that reports this event."""
    return states(WidgetState(id=_make_trigger_id("player", "events"), json_trigger_value=value))


@pytest.mark.parametrize("value", ["{}", "null", '{"selection": {"step": NaN}}'])
def test_what_a_component_reports_passes(page, value):
    page.send_bytes(reported(value))
    assert page.receive_bytes() == reported(value)
    page.send_bytes(event(value))
    assert page.receive_bytes() == event(value)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"text": "hello"}, 1003),
        ({"bytes": b"\xff" * 40}, 1002),
        ({"bytes": bytes(LARGEST_MESSAGE + 1)}, 1009),
        *(({"bytes": reported(value)}, 1002) for value in ODD_JSON),
        *(({"bytes": event(value)}, 1002) for value in ODD_JSON),
    ],
)
def test_what_is_no_message_ends_the_connection(page, frame, code):
    page.send({"type": "websocket.receive", **frame})
    with pytest.raises(WebSocketDisconnect) as ended:
        page.receive_bytes()
    assert ended.value.code == code


KINDS_OF_VALUE = WidgetState.DESCRIPTOR.oneofs_by_name["value"].fields


@pytest.mark.parametrize("kind", [field.name for field in KINDS_OF_VALUE])
def test_a_value_of_another_kind_than_its_widget_s_ends_the_connection(kind, page):
    value = WidgetState(id="player")
    if value.DESCRIPTOR.fields_by_name[kind].message_type is None:
        setattr(value, kind, VALUES.get(kind, 1))
    else:
        getattr(value, kind).SetInParent()
    page.send_bytes(states(value))
    if kind == "json_value":
        assert page.receive_bytes() == states(value)
        return
    with pytest.raises(WebSocketDisconnect) as ended:
        page.receive_bytes()
    assert ended.value.code == 1002


def test_values_of_widgets_that_no_page_has_are_left_out(page):
    own, cleared = WidgetState(id="player", json_value="{}"), WidgetState(id="player")
    for other in (
        WidgetState(id="elsewhere", int_value=3),
        WidgetState(id=_make_trigger_id("elsewhere", "events"), json_trigger_value="["),
        WidgetState(id=""),
    ):
        page.send_bytes(states(other, own, other))
        assert page.receive_bytes() == states(own)
        page.send_bytes(states(cleared, other))
        assert page.receive_bytes() == states(cleared)
