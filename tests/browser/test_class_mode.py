"""Class mode in a real browser: how the host enters, what guests get, and where the app listens."""

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from explorer.app.server import access
from explorer.app.server.launch import local_address
from explorer.core import folders
from tests.support.app_server import PATIENCE, ROOT, free_port, running_app, running_class, wait_for

KEY = "swordfish"
ELSEWHERE = "http://course.example.org/"


@pytest.fixture(scope="module")
def class_key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(access.KEY_VARIABLE, KEY)
        yield


@pytest.fixture(scope="module")
def address(class_key: None) -> Iterator[str]:
    """The running app in class mode."""
    with running_app(**{access.KEY_VARIABLE: KEY}) as address:
        yield address


def test_the_link_of_the_terminal_makes_one_browser_the_host_s(
    new_visitor: Callable[..., Page], complaints: list[str], tmp_path: Path
) -> None:
    with running_class(port := free_port(), tmp_path) as (link, _):
        address = f"http://127.0.0.1:{port}/"
        host, other = new_visitor(1024, 768), new_visitor(390, 844)
        host.goto(link)
        expect(host).to_have_url(f"{address}host")  # the ticket stays in no address
        with host.expect_response("**/host-cookie") as answer:
            host.get_by_test_id("host-enter").click()
        assert answer.value.status == 204
        expect(host.get_by_test_id("step-count")).to_be_visible()
        expect(host).to_have_url(re.compile(f"^{address}(?!host)"))
        host.reload()
        expect(host.get_by_test_id("step-count")).to_be_visible()
        (cookie,) = (one for one in host.context.cookies() if "explorer-host" in one["name"])
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Lax"
        assert (tmp_path / f"class-{port}.key").read_text() not in cookie["value"]
        assert "explorer-host" not in host.evaluate("document.cookie")
        host.get_by_role("button", name="Files").click()
        with host.expect_response("**/_stcore/upload_file/**") as upload:
            host.locator("input[type=file]").first.set_input_files(
                ROOT / "checkpoints" / "copy.safetensors"
            )
        assert upload.value.ok
        other.goto(link)
        other.get_by_test_id("host-enter").click()
        expect(other.get_by_role("alert")).to_contain_text("This link was used before")
        take_refusal(complaints)
        for tab in (host, other):
            tab.goto("about:blank")  # a page complains of a server that ends


def test_the_key_is_the_second_way_and_a_wrong_one_is_told_in_view(
    address: str, new_visitor: Callable[..., Page], complaints: list[str]
) -> None:
    host = new_visitor(390, 844)
    host.goto(f"{address}host")
    expect(host.get_by_test_id("host-enter")).to_be_hidden()
    expect(host.get_by_text("Loading")).to_have_count(0)  # nothing of Streamlit's page
    enter_key(host, "密钥")
    told = host.get_by_text("That is not the host's key")
    expect(told).to_be_in_viewport(ratio=1)
    take_refusal(complaints)
    enter_key(host, KEY)
    expect(host.get_by_test_id("step-count")).to_be_visible()


def test_a_link_of_another_site_opens_the_host_s_page(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host = new_visitor()
    become_host(host, address)

    def course(route: Route) -> None:
        route.fulfill(content_type="text/html", body=f"<a href='{address}?text=4+2'>class</a>")

    host.route(ELSEWHERE, course)
    host.goto(ELSEWHERE)
    host.get_by_text("class").click()
    expect(host.get_by_role("button", name="Share")).to_be_visible()
    expect(host.get_by_role("textbox", name="Source")).to_have_value("4 2")


def test_a_guest_gets_the_page_without_a_server_and_opens_no_session(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    guest = new_visitor(390, 844)
    sockets: list[str] = []
    paths: list[str] = []
    guest.on("websocket", lambda socket: sockets.append(socket.url))
    guest.on("request", lambda request: paths.append(request.url.removeprefix(address)))
    guest.goto(f"{address}?model=copy&text=1+2+3&step=2")
    expect(guest).to_have_url(re.compile("/#model=copy&text=1"))
    chips = guest.get_by_test_id("strip-source").locator(".chip")
    expect(chips).to_have_text(["1", "2", "3", "eos"])
    expect(guest.get_by_test_id("step-count")).to_have_text("step 2/4")
    assert guest.evaluate("document.documentElement.dataset.class") == ""
    assert any(path.startswith("models/copy.js") for path in paths)
    guest.goto(f"{address}?lesson=query-and-key&card=1")
    expect(guest.get_by_test_id("lesson-title")).to_be_visible()
    guest.goto(f"{address}train")
    expect(guest).to_have_url(f"{address}training.en.html")
    assert not sockets
    assert not [path for path in paths if "_stcore" in path]


def test_the_code_to_scan_is_large_and_the_only_one(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host = new_visitor()
    become_host(host, address)
    code = host.locator(".st-key-join img")
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        host.set_viewport_size({"width": width, "height": height})
        host.goto(address)
        expect(host.locator(".plotted")).to_be_visible()  # on a phone, it is above the button
        host.get_by_role("button", name="Share").click()
        expect(code).to_have_js_property("complete", True)  # before that it has no height
        expect(code).to_be_in_viewport(ratio=1)
        box = code.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= (340 if width > 800 else 300)
    expect(host.get_by_text("plain http")).to_be_visible()


def test_the_code_fills_the_screen_and_opens_what_the_host_sees(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host = new_visitor(1024, 768)
    become_host(host, f"{address}?text=4+2&step=2")
    host.get_by_role("button", name="Share").click()
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
def test_class_mode_listens_where_it_is_told_and_answers_to_its_name(tmp_path: Path) -> None:
    port = free_port()
    where = ["--port", str(port), "--address", "127.0.0.1", "--name", "class.example.org"]
    command = [sys.executable, "-u", "-m", "explorer", "class", *where]
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, folders.STATE_VARIABLE: str(tmp_path), access.KEY_VARIABLE: ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
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


def take_refusal(complaints: list[str]) -> None:
    """The browser's console complains of a status that refuses something; the page tells it."""
    assert len(complaints) == 1
    assert re.search("status of 4[02][39]", complaints.pop())


def become_host(tab: Page, address: str) -> None:
    """Open the app as the host."""
    base = address.partition("?")[0]
    cookie = {"name": access.cookie_name(), "value": access.cookie_value(), "url": base}
    tab.context.add_cookies([cookie])  # type: ignore[list-item]
    tab.goto(address)
    expect(tab.get_by_test_id("step-count")).to_be_visible()


def enter_key(tab: Page, key: str) -> None:
    tab.get_by_test_id("host-key").fill(key)
    tab.get_by_role("button", name="Enter with the key").click()


def health(port: int, host: str, address: str = "127.0.0.1") -> int:
    """The status with which the server answers a request for this host."""
    connection = http.client.HTTPConnection(address, port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_stcore/health", headers={"Host": f"{host}:{port}"})
        return connection.getresponse().status
    finally:
        connection.close()
