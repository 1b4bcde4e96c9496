"""Which messages of a page come too late, because it was left."""

from contextlib import suppress

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from explorer.app.server import page_changes
from explorer.app.server.page_changes import LateTimers, PageOnScreen


def begins(page: str, session: str = "tab") -> bytes:
    """The message with which a run of a page begins."""
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.new_session.initialize.session_id = session
    return message.SerializeToString()


def timer(page: str) -> ClientState:
    return ClientState(page_script_hash=page, fragment_id="replay", is_auto_rerun=True)


def pressed(page: str, fragment: str = "") -> ClientState:
    return ClientState(page_script_hash=page, fragment_id=fragment)


def shown(page: str) -> PageOnScreen:
    screen = PageOnScreen()
    screen.learn(begins(page))
    return screen


def test_the_timer_of_the_page_on_screen_is_on_time():
    screen = shown("train")
    assert not screen.is_late(timer("train"))
    assert not PageOnScreen().is_late(timer("train"))  # a connection that is resumed


def test_the_page_that_a_url_names_is_the_one_of_the_navigation():
    """Opened directly, Train begins as the whole script, and its timers were all late."""
    whole, named = ForwardMsg(), ForwardMsg()
    whole.new_session.page_script_hash = whole.new_session.main_script_hash = "main"
    whole.new_session.initialize.session_id = "tab"
    named.navigation.page_script_hash = "train"
    screen = PageOnScreen()
    for message in (whole, named):
        screen.learn(message.SerializeToString())
        assert not screen.is_late(timer("train"))
    assert screen.is_late(timer("explore"))
    page_changes.leave("tab", "train")
    assert screen.is_late(timer("train"))
    screen.close()


def test_the_timer_of_a_page_is_late_once_the_next_one_begins():
    screen = shown("train")
    screen.learn(begins("explore"))
    assert screen.is_late(timer("train"))
    assert not screen.is_late(timer("explore"))


def test_the_timer_of_a_page_is_late_once_a_link_to_the_next_one_is_pressed():
    screen = shown("train")
    assert not screen.is_late(pressed("explore"))
    assert screen.is_late(timer("train"))
    assert not screen.is_late(pressed("train"))  # and back, before it was drawn
    assert not screen.is_late(timer("train"))


def test_what_is_pressed_in_a_part_of_a_page_changes_no_page():
    screen = shown("explore")
    assert not screen.is_late(pressed("train", "replay"))
    assert not screen.is_late(timer("explore"))


def test_the_timer_of_a_page_that_a_script_leaves_is_late_until_the_page_is_drawn_again():
    screen, other = shown("train"), PageOnScreen()
    other.learn(begins("train", "another tab"))
    page_changes.leave("tab", "train")
    assert screen.is_late(timer("train"))
    assert not other.is_late(timer("train"))
    screen.learn(begins("train"))  # of a run that had begun before
    assert screen.is_late(timer("train"))
    screen.learn(begins("explore"))
    screen.learn(begins("train"))  # the visitor came back
    assert not screen.is_late(timer("train"))


def test_a_session_that_ends_on_the_way_is_forgotten():
    screen = shown("train")
    page_changes.leave("tab", "train")
    screen.close()
    assert not shown("train").is_late(timer("train"))


def test_other_messages_and_what_is_no_message_change_nothing():
    screen = shown("train")
    for data in (b"\xff" * 40, ForwardMsg(script_finished=0).SerializeToString()):
        screen.learn(data)
    assert not screen.is_late(timer("train"))
    assert screen.is_late(timer("explore"))


async def stream(websocket: WebSocket) -> None:
    """Begins Explore, then sends back whatever comes."""
    await websocket.accept()
    await websocket.send_bytes(begins("explore"))
    with suppress(WebSocketDisconnect):
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await websocket.send_bytes(message["bytes"])


def test_the_timer_of_a_page_that_was_left_does_not_reach_the_server():
    app = Starlette(routes=[WebSocketRoute("/stream", stream)], middleware=[Middleware(LateTimers)])
    with TestClient(app).websocket_connect("/stream") as connection:
        assert connection.receive_bytes() == begins("explore")
        late, timely = (
            BackMsg(rerun_script=timer(page)).SerializeToString() for page in ("train", "explore")
        )
        for sent in (late, timely, b"\xff" * 9, late):
            connection.send_bytes(sent)
        connection.send_bytes(b"")
        assert [connection.receive_bytes() for _ in range(3)] == [timely, b"\xff" * 9, b""]
