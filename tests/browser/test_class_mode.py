"""Class mode in a real browser: the host's rights over a reload, and where the app listens."""

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from explorer.app.server import access
from explorer.app.server.launch import local_address
from explorer.core.trace import Trace
from tests.support.app_server import PATIENCE, ROOT, free_port, running_app, wait_for

KEY = "swordfish"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The running app in class mode."""
    with running_app(**{access.KEY_VARIABLE: KEY}) as address:
        yield address


def test_the_host_s_rights_survive_a_reload_and_no_guest_has_them(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host = new_visitor()
    host.goto(address)
    open_key_box(host)
    expect(host.get_by_text("plain http")).to_be_visible()
    with host.expect_response("**/host-cookie") as answer:
        host.get_by_role("textbox", name="Host key").fill(KEY)
        host.get_by_role("textbox", name="Host key").press("Enter")
    assert answer.value.status == 204
    expect(host.get_by_text("You are the host")).to_be_visible()
    host.reload()
    host.get_by_role("button", name="Share").click()
    expect(host.get_by_text("You are the host")).to_be_visible()
    assert KEY not in host.url
    (cookie,) = (one for one in host.context.cookies() if one["name"].startswith("explorer-host"))
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert KEY not in cookie["value"]
    assert "explorer" not in host.evaluate("document.cookie")
    host.get_by_role("button", name="Files").click()
    with host.expect_response("**/_stcore/upload_file/**") as upload:
        host.locator("input[type=file]").first.set_input_files(
            ROOT / "checkpoints" / "copy.safetensors"
        )
    assert upload.value.ok
    guest = new_visitor()
    guest.goto(address)
    open_key_box(guest)


def test_a_guest_can_read_the_buttons_that_only_the_host_may_press(
    address: str, new_tab: Callable[..., Page]
) -> None:
    guest = new_tab()
    guest.goto(f"{address}train")
    start = guest.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_disabled()
    stop = guest.get_by_role("button", name="Stop", exact=True)
    colour = "(button) => getComputedStyle(button.querySelector('p')).color"
    assert start.evaluate(colour) == stop.evaluate(colour)


def test_only_the_host_may_use_the_upload_route(
    address: str, new_tab: Callable[..., Page], tmp_path: Path
) -> None:
    file = tmp_path / "uploaded.trace"
    Trace.from_arrays(["x", "y"], encoder=[[[[0.5, 0.5], [0.5, 0.5]]]]).save(file)
    tab = new_tab()
    sessions: list[str] = []
    tab.on("websocket", lambda socket: socket.on("framereceived", partial(note_session, sessions)))
    tab.goto(address)
    expect(tab.get_by_test_id("step-count")).to_be_visible()
    assert send(tab, address, sessions[0]) == (
        403,
        "In a classroom only the host brings files.",
    )
    key = open_key_box(tab)
    key.fill(KEY)
    key.press("Enter")
    expect(tab.get_by_text("You are the host")).to_be_visible()
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Files").click()
    tab.locator("input[type=file]").set_input_files(file)
    expect(tab.get_by_role("textbox", name="Source")).to_be_disabled()
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_text(["x", "y"])
    assert send(tab, address, sessions[0])[0] == 204
    assert send(tab, address, "another")[0] == 403


def test_a_wrong_key_is_told_in_view(address: str, new_tab: Callable[..., Page]) -> None:
    guest = new_tab(1024, 768)
    guest.goto(address)
    box = open_key_box(guest)
    box.fill("herring")
    box.press("Enter")
    told = guest.get_by_text("That is not the host's key")
    expect(told).to_be_in_viewport(ratio=1)
    expect(box).to_be_in_viewport(ratio=1)


def test_the_code_to_scan_is_large_and_the_key_s_box_beside_it(
    address: str, new_tab: Callable[..., Page]
) -> None:
    tab = new_tab()
    code = tab.locator(".st-key-join img")
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        tab.set_viewport_size({"width": width, "height": height})
        tab.goto(address)
        expect(tab.locator(".plotted")).to_be_visible()  # on a phone, it is above the button
        tab.get_by_role("button", name="Share").click()
        expect(code).to_have_js_property("complete", True)  # before that it has no height
        expect(code).to_be_in_viewport(ratio=1)
        box = code.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= (340 if width > 800 else 300)
        expect(tab.get_by_role("textbox", name="Host key")).to_be_hidden()
        tab.get_by_role("button", name="I am the host").click()
        if width > 800:
            expect(tab.get_by_role("textbox", name="Host key")).to_be_in_viewport(ratio=1)


def test_the_code_fills_the_screen_and_opens_what_the_host_sees(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host = new_visitor(1024, 768)
    become_host(host, f"{address}?text=4+2&step=2")
    with host.expect_request("**/class/code") as asked:
        host.get_by_test_id("class-code").click()
    assert "text=4+2" in str(asked.value.post_data)
    assert "step=2" in str(asked.value.post_data)
    picture = host.get_by_test_id("class-code-screen").locator("img")
    expect(picture).not_to_have_js_property("naturalWidth", 0)  # no image is "complete", too
    box = picture.bounding_box()
    assert box is not None
    assert box["height"] >= 500
    expect(host.get_by_test_id("class-code-screen")).to_contain_text(
        "Other devices cannot open this code"
    )
    host.keyboard.press("Escape")
    expect(picture).to_be_hidden()


@pytest.mark.skipif(sys.platform == "win32", reason="the process is ended by a signal")
def test_class_mode_listens_where_it_is_told_and_answers_to_its_name() -> None:
    port = free_port()
    where = ["--port", str(port), "--address", "127.0.0.1", "--name", "class.example.org"]
    command = [sys.executable, "-u", "-m", "explorer", "class", *where]
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
            assert health(port, "class.example.org") == 200
            assert health(port, "other.example.org") == 403
            if (other := local_address()) != "127.0.0.1":
                with pytest.raises(OSError):  # noqa: PT011  (refused or unreachable)
                    health(port, other, other)
            stream.request("GET", "/class/events", headers={"Host": f"127.0.0.1:{port}"})
            answer = stream.getresponse()
            assert answer.headers["X-Accel-Buffering"] == "no"
            assert answer.readline().startswith(b"data: {")
        finally:
            server.send_signal(signal.SIGINT)  # Ctrl-C, while an event stream is open
            try:
                printed = server.communicate(timeout=PATIENCE / 4)[0]
            finally:
                server.kill()
                stream.close()
    assert re.search(rf"http://class\.example\.org:{port} on this computer", printed)
    assert "plain http" in printed


def become_host(tab: Page, address: str) -> None:
    """Open the app as the host, with the share menu closed."""
    tab.goto(address)
    with tab.expect_response("**/host-cookie"):
        key = open_key_box(tab)
        key.fill(KEY)
        key.press("Enter")
    expect(tab.get_by_text("You are the host")).to_be_visible()
    expect(tab.get_by_test_id("class-lead")).to_be_visible()


def lead(host: Page) -> None:
    """Switch on Follow me. The box is checked when the server has answered where a tab that has
    just been closed still counts as the one that leads."""
    host.get_by_test_id("class-lead").click()
    expect(host.get_by_test_id("class-lead")).to_be_checked()


def stop_leading(host: Page) -> None:
    """Switch off Follow me and wait until the server, which is that of the next test too, has
    been told."""
    with host.expect_response("**/class/screen"):
        host.get_by_test_id("class-lead").uncheck()


def open_key_box(tab: Page) -> Locator:
    """Open the box for the host's key, which no guest needs."""
    tab.get_by_role("button", name="Share").click()
    tab.get_by_role("button", name="I am the host").click()
    box = tab.get_by_role("textbox", name="Host key")
    expect(box).to_be_visible()
    return box


def health(port: int, host: str, address: str = "127.0.0.1") -> int:
    """The status with which the server answers a request for this host."""
    connection = http.client.HTTPConnection(address, port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_stcore/health", headers={"Host": f"{host}:{port}"})
        return connection.getresponse().status
    finally:
        connection.close()


def note_session(sessions: list[str], frame: str | bytes) -> None:
    """Note the id of the session that a frame from Streamlit begins."""
    message = ForwardMsg()
    message.ParseFromString(frame if isinstance(frame, bytes) else frame.encode())
    if message.WhichOneof("type") == "new_session":
        sessions.append(message.new_session.initialize.session_id)


def send(tab: Page, address: str, session: str) -> tuple[int, str]:
    """Upload a file to Streamlit's route as the page itself would."""
    cookies = {cookie["name"]: cookie["value"] for cookie in tab.context.cookies()}
    answer = tab.request.put(
        f"{address}_stcore/upload_file/{session}/{uuid4()}",
        headers={"X-Xsrftoken": cookies.get("_streamlit_xsrf", "")},
        multipart={"file": {"name": "x.trace", "mimeType": "text/plain", "buffer": b"x" * 1000}},
    )
    return answer.status, answer.text()
