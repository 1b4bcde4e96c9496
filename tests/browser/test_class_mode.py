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
from tests.support.page_checks import show_more

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


def test_a_class_follows_its_host_votes_and_explores_alone(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host, phone, laptop = new_visitor(), new_visitor(390, 844), new_visitor(1024, 768)
    become_host(host, address)
    phone.goto(address)
    expect(host.get_by_test_id("class-present")).to_have_text("Guests here: 1")
    lead(host)
    host.keyboard.press("Escape")
    for tab in (host, phone):
        expect(tab.get_by_test_id("class-status")).to_contain_text("guests here: 1")
    # Step, head, site and cell, without a run of the script.
    host.keyboard.press("Home")
    host.get_by_test_id("head-0-2").click()
    expect(phone.get_by_test_id("step-count")).to_have_text("step 1/6")
    expect(phone.get_by_test_id("map-title")).to_contain_text("L0 H2")
    show_more(host)
    host.get_by_test_id("shown").select_option("alti")  # which each browser loads
    expect(phone.get_by_test_id("map-title")).to_contain_text("all heads of L0")
    host.get_by_test_id("head-0-2").click()
    expect(phone.get_by_test_id("map-title")).to_contain_text("L0 H2")
    phone.get_by_test_id("next").click(force=True)  # the guest's own keys and buttons rest
    phone.keyboard.press("End")
    expect(phone.get_by_test_id("step-count")).to_have_text("step 1/6")
    # Another text, and a guest who comes late.
    expect(host).to_have_url(re.compile("layer=0&head=2"))  # a run of the script has ended
    source = host.get_by_role("textbox", name="Source")
    source.fill("5 3 2")
    source.press("Enter")
    laptop.goto(address)
    for tab in (phone, laptop):
        chips = tab.get_by_test_id("strip-source").locator(".chip")
        expect(chips).to_have_text(["5", "3", "2", "eos"])
        expect(tab.get_by_role("textbox", name="Source")).to_have_value("5 3 2")
    host.keyboard.press("g")
    host.keyboard.press("Home")
    vote_and_reveal(host, phone, laptop)
    # A guest explores alone, and returns to what is shown by then.
    phone.get_by_test_id("class-explore").click()
    expect(phone.get_by_test_id("class-choices")).to_be_hidden()
    host.get_by_test_id("next").click()
    expect(laptop.get_by_test_id("step-count")).to_have_text("step 2/4")
    expect(phone.get_by_test_id("step-count")).to_have_text("step 1/4")
    phone.get_by_test_id("last").click()
    expect(phone.get_by_test_id("step-count")).to_have_text("step 4/4")
    phone.reload()
    expect(phone.get_by_test_id("class-status")).to_contain_text("You explore alone")
    phone.get_by_test_id("class-explore").click()
    expect(phone.get_by_test_id("step-count")).to_have_text("step 2/4")
    expect(phone.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
    host.get_by_role("button", name="Share").click()
    stop_leading(host)
    for tab in (phone, laptop):
        expect(tab.get_by_test_id("class-explore")).to_be_hidden()
    host.keyboard.press("Escape")
    host.keyboard.press("g")
    expect(laptop.get_by_test_id("class-choices")).to_be_hidden()
    expect(laptop.get_by_test_id("step-count")).to_have_text("step 2/4")


def test_a_class_goes_on_alone_while_its_host_is_away(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host, guest = new_visitor(), new_visitor(390, 844, offered=False)
    loner = new_visitor(390, 844)
    become_host(host, f"{address}?text=5+1+2&step=1&guess=1")
    lead(host)
    host.keyboard.press("Escape")
    for tab in (guest, loner):
        tab.goto(address)
    loner.get_by_test_id("class-explore").click()
    expect(loner.get_by_test_id("class-status")).to_contain_text("the class goes on")
    predicted = "[data-testid=strip-target] .predicted"
    # A page that is loaded again has what it had revealed.
    host.get_by_test_id("next").click()
    for tab in (host, guest):
        expect(tab.locator(predicted)).to_have_text("2")
    host.reload()
    expect(host.get_by_test_id("class-answered")).to_be_visible()
    for tab in (host, guest):
        expect(tab.locator(predicted)).to_have_text("2")
    expect(host.get_by_test_id("class-reveal")).to_be_hidden()
    host.get_by_test_id("next").click()
    for tab in (host, guest):
        expect(tab.locator(predicted)).to_have_text("?")
    expect(host.get_by_test_id("class-reveal")).to_be_visible()
    votes = guest.get_by_test_id("class-choices").get_by_role("button", disabled=False)
    expect(votes.first).to_be_visible()
    # The host leaves, and comes back.
    expect(host).to_have_url(re.compile("step=2"))
    there = host.url
    host.goto("about:blank")
    status = guest.get_by_test_id("class-status")
    expect(status).to_contain_text("The host is away")
    expect(loner.get_by_test_id("class-status")).to_contain_text("The host is away")
    expect(loner.get_by_test_id("class-explore")).to_be_hidden()
    expect(guest.get_by_test_id("lesson-offer")).to_be_hidden()
    expect(guest.get_by_test_id("class-choices")).to_be_hidden()
    guest.get_by_test_id("last").click()
    expect(guest.get_by_test_id("step-count")).to_have_text("step 4/4")
    host.goto(there)
    expect(status).to_contain_text("Following the host")
    expect(loner.get_by_test_id("class-status")).to_contain_text("the class goes on")
    expect(guest.get_by_test_id("step-count")).to_have_text("step 2/4")
    expect(votes.first).to_be_visible()
    host.get_by_role("button", name="Share").click()
    stop_leading(host)
    expect(guest.get_by_test_id("class-explore")).to_be_hidden()


def test_a_class_guesses_where_a_head_looks(address: str, new_visitor: Callable[..., Page]) -> None:
    """Cross-attention, L1 H2, from "bos" over "5 1 2 eos" and two that are padding."""
    host, phone, laptop = new_visitor(), new_visitor(390, 844), new_visitor(1024, 768)
    query = "model=reverse&text=5+1+2&pad=2&site=cross&layer=1&head=2&step=1&guess=1"
    become_host(host, f"{address}?{query}")
    lead(host)
    host.keyboard.press("Escape")
    for tab in (phone, laptop):
        tab.goto(address)
    host.get_by_test_id("ask-key").click()
    for tab in (phone, laptop):
        expect(tab.get_by_test_id("class-question")).to_have_text(
            "Reading “bos”, where does head L1 H2 look most?"
        )
        choices = tab.get_by_test_id("class-choices").get_by_role("button")
        expect(choices).to_have_text(["15", "21", "32", "4eos"])
        expect(tab.get_by_test_id("row-weights")).to_be_hidden()
    phone.get_by_test_id("class-choices").get_by_role("button").nth(2).click()
    chips = laptop.get_by_test_id("strip-source").locator(".chip")
    chips.nth(4).click()  # padding
    chips.nth(0).click()
    expect(host.get_by_test_id("class-answered")).to_have_text("2 of 2 answered.")
    expect(host.get_by_test_id("class-address")).to_have_text(
        "Most votes from one network address: 2"
    )
    expect(host.get_by_test_id("class-bars").locator(".vote")).to_have_text(
        ["15×1", "21", "32×1", "4eos"]
    )
    host.get_by_test_id("class-reveal").click()
    expect(phone.get_by_test_id("class-note")).to_have_text("✓ You were right.")
    expect(laptop.get_by_test_id("class-note")).to_have_text("✗ The head looks at another one.")
    expect(phone.get_by_test_id("row-weights")).to_contain_text("1.0")
    expect(phone.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
    host.get_by_test_id("ask-token").click()
    expect(phone.get_by_test_id("class-question")).to_have_text("What comes next?")
    host.keyboard.press("g")
    host.get_by_role("button", name="Share").click()
    stop_leading(host)
    expect(phone.get_by_test_id("class-explore")).to_be_hidden()


def test_a_second_tab_of_the_host_leads_when_it_is_told_to(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host, guest = new_visitor(), new_visitor(390, 844)
    become_host(host, f"{address}?text=5+1+2&step=1")
    lead(host)
    host.keyboard.press("Escape")
    guest.goto(address)
    count = guest.get_by_test_id("step-count")
    expect(count).to_have_text("step 1/4")
    second = host.context.new_page()
    second.goto(f"{address}?text=5+1+2&step=3")
    status = second.get_by_test_id("class-status")
    expect(status).to_contain_text("Another tab of yours leads the class")
    second.get_by_test_id("next").click()
    expect(second.get_by_test_id("step-count")).to_have_text("step 4/4")
    host.bring_to_front()
    host.get_by_test_id("next").click()
    expect(count).to_have_text("step 2/4")
    second.bring_to_front()
    second.get_by_test_id("class-take-over").click()
    expect(count).to_have_text("step 4/4")
    expect(status).to_contain_text("The class follows you")
    expect(host.get_by_test_id("class-status")).to_contain_text("Another tab of yours leads")
    host.bring_to_front()
    host.get_by_test_id("previous").click()
    expect(host.get_by_test_id("step-count")).to_have_text("step 1/4")
    second.bring_to_front()
    second.get_by_test_id("previous").click()
    expect(count).to_have_text("step 3/4")
    second.close()
    expect(count).to_have_text("step 1/4")  # the other tab leads, after a time
    expect(host.get_by_test_id("class-status")).to_contain_text("The class follows you")
    host.get_by_role("button", name="Share").click()
    stop_leading(host)
    expect(guest.get_by_test_id("class-explore")).to_be_hidden()


def test_a_guest_who_opens_a_lesson_explores_alone(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host, guest = new_visitor(offered=False), new_visitor(1024, 768, offered=False)
    become_host(host, f"{address}?text=5+1+2&step=1&guess=1")
    expect(host.get_by_test_id("lesson-offer")).to_be_hidden()
    lead(host)
    guest.goto(address)
    status = guest.get_by_test_id("class-status")
    expect(status).to_contain_text("Following the host")
    expect(guest.get_by_test_id("class-choices")).to_be_visible()
    for name in ("lesson-offer", "tally"):
        expect(guest.get_by_test_id(name)).to_be_hidden()
    for name in ("play", "next", "guess"):
        control = guest.get_by_test_id(name)
        expect(control).to_have_attribute("aria-disabled", "true")
        expect(control).to_have_attribute("title", re.compile("explore alone to use this"))
    for _ in range(2):  # the second time it is on the page already, hidden
        guest.get_by_role("button", name="Lessons").click()
        guest.get_by_text("1 · Query and key").click()
        expect(status).to_contain_text("You explore alone")
        expect(guest.get_by_test_id("lesson-title")).to_be_visible()
        expect(guest.get_by_test_id("next")).to_have_attribute("title", re.compile("^One step on"))
        guest.get_by_test_id("class-explore").click()
        expect(status).to_contain_text("Following the host")
        expect(guest.get_by_test_id("lesson-title")).to_be_hidden()
    guest.goto(f"{address}?lesson=query-and-key&card=1")
    expect(status).to_contain_text("You explore alone")
    stop_leading(host)
    expect(guest.get_by_test_id("class-explore")).to_be_hidden()


def test_a_guest_who_types_a_text_has_the_way_back_in_view(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host, phone = new_visitor(1024, 768), new_visitor(390, 844)
    become_host(host, f"{address}?text=5+1+2&step=1")
    lead(host)
    phone.goto(address)
    status, back = phone.get_by_test_id("class-status"), phone.get_by_test_id("class-explore")
    expect(status).to_contain_text("Following the host")
    source = phone.get_by_role("textbox", name="Source")
    expect(source).to_have_value("5 1 2")  # typed before, it would make way for the host's text
    source.fill("4 4")
    source.press("Enter")
    expect(status).to_contain_text("You explore alone; the class goes on")
    chips = phone.get_by_test_id("strip-source").locator(".chip")
    expect(chips.first).to_have_text("4")
    phone.get_by_test_id("integrity").scroll_into_view_if_needed()
    expect(chips.first).not_to_be_in_viewport()
    expect(back).to_be_in_viewport(ratio=1)
    box = back.bounding_box()
    assert box is not None
    assert box["height"] >= 40
    back.click()
    expect(chips.first).to_have_text("5")
    stop_leading(host)
    expect(back).to_be_hidden()


def test_the_candidates_of_a_vote_are_not_cut(
    address: str, new_visitor: Callable[..., Page]
) -> None:
    host, phone = new_visitor(1024, 768), new_visitor(390, 844)
    become_host(host, f"{address}?model=english-french-early&step=2&guess=1&lang=en")
    lead(host)
    host.keyboard.press("Escape")
    phone.goto(address)
    host.get_by_test_id("ask-key").click()
    choices = phone.get_by_test_id("class-choices")
    expect(choices.get_by_role("button")).to_have_count(11)
    bars = host.get_by_test_id("class-bars")
    expect(bars.locator(".vote")).to_have_count(11)
    cut = "all => all.some((token) => token.scrollWidth > token.clientWidth + 1)"
    for shown in (choices, bars):
        assert not shown.locator(".token").evaluate_all(cut)
    assert bars.evaluate("(bars) => bars.clientWidth") >= 900
    # Nor is anything left of a weight that is hidden now, such as white marks before a word.
    marks = phone.get_by_test_id("strip-source").locator(".word-start")
    expect(marks.first).to_be_attached()
    colours = marks.evaluate_all("all => all.map((mark) => getComputedStyle(mark).color)")
    assert len(set(colours)) == 1
    host.keyboard.press("g")
    host.get_by_role("button", name="Share").click()
    stop_leading(host)
    expect(phone.get_by_test_id("class-explore")).to_be_hidden()


def vote_and_reveal(host: Page, phone: Page, laptop: Page) -> None:
    """Both guests vote on the first token after "5 3 2", reversed: one changes to what is right."""
    for tab in (phone, laptop):
        expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
        expect(tab.get_by_test_id("class-choices").get_by_role("button").first).to_be_visible()
        offered = tab.get_by_test_id("class-choices").get_by_role("button").all_inner_texts()
        assert {"5", "3", "2"} <= set(offered)  # 3 is not among the ten most probable
        assert len(set(offered)) == len(offered)
    bars = host.get_by_test_id("class-bars")
    expect(bars.locator(".token")).to_have_text(offered)
    assert bars.evaluate("(bars) => parseFloat(getComputedStyle(bars).fontSize)") >= 20
    expect(host.get_by_test_id("class-answered")).to_have_text("0 of 2 answered.")
    shown_twice = laptop.get_by_test_id("candidates").get_by_role("button", name="5", exact=True)
    shown_twice.click()  # the list of the player votes, too
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 2 answered.")
    expect(laptop.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
    for tab, token in ((phone, "3"), (laptop, "5"), (phone, "2")):
        button = tab.get_by_test_id("class-choices").get_by_role("button", name=token, exact=True)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    expect(host.get_by_test_id("class-answered")).to_have_text("2 of 2 answered.")
    voted = {"2": "2×1", "5": "5×1"}
    expect(bars.locator(".vote")).to_have_text([voted.get(one, one) for one in offered])
    sizes = phone.get_by_test_id("class-choices").get_by_role("button").all()
    assert min(one.bounding_box()["height"] for one in sizes) >= 48
    host.get_by_test_id("class-reveal").click()
    expect(phone.get_by_test_id("class-note")).to_have_text("✓ You were right.")
    expect(phone.get_by_test_id("class-tally")).to_have_text("1 of 1 right")
    expect(laptop.get_by_test_id("class-note")).to_contain_text("✗")
    expect(laptop.get_by_test_id("class-tally")).to_have_text("0 of 1 right")
    for tab in (host, phone, laptop):
        expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("2")


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
