"""The static site as guests of a class get it: following, voting, and exploring alone."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.app.server import access
from explorer.components.player.payload import Offer, player_payload
from explorer.core.i18n import say
from explorer.core.trace import Trace
from tests.support.class_server import running_class

KEY = "ab" * 32
UPLOAD = Trace.from_arrays(["x", "y"], encoder=[[[[0.25, 0.75], [0.5, 0.5]]]])
SHOWN = {"site": "cross", "layer": "0", "head": "1", "ahead": "0"}
QUERY = {"model": "copy", "text": "4 2 7", "pad": "0"}
CARD = {"title": "Copying", "number": 2, "cards": 3, "text": "It copies.", "because": ""}
QUESTION = {"tokens": ["<bos>", "4"], "candidates": ["2", "4", "7", "9"], "answer": None}

Publish = Callable[..., None]


@pytest.fixture(scope="module")
def class_address(static_site: Path) -> Iterator[str]:
    """A class, whose host shows what a test publishes."""
    payload = player_payload(UPLOAD, language=None, offer=Offer(f"trace/{KEY}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(access.KEY_VARIABLE, "swordfish")
        with running_class(static_site, {KEY: payload}) as address:
            yield address


@pytest.fixture
def publish(class_address: str) -> Iterator[Publish]:
    """Publish a screen as the host's page does: the view of the host, and a question."""

    def send(view: dict[str, Any] | None = None, question: dict[str, Any] | None = None) -> None:
        headers = {
            "Content-Type": "application/json",
            "Cookie": f"{access.cookie_name()}={access.cookie_value()}",
        }
        body = json.dumps({"view": view, "question": question}).encode()
        request = urllib.request.Request(f"{class_address}class/screen", body, headers)
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 204

    yield send
    send()


def view_of(text: str = "4 2 7", step: int = 2, **more: Any) -> dict[str, Any]:
    """A view of the model copy at a step."""
    return {"query": {**QUERY, **SHOWN, "text": text, "step": str(step)}, **more}


def test_a_guest_follows_until_a_touch_and_comes_back(
    phone: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    publish(view_of())
    tab = phone()
    tab.goto(class_address)
    status, change = tab.get_by_test_id("class-status"), tab.get_by_test_id("class-explore")
    step = tab.get_by_test_id("step-count")
    expect(status).to_have_text("Following the host · 1 here")
    expect(step).to_have_text("step 2/4")
    expect(tab.get_by_test_id("map-title")).to_contain_text("L0 H1")
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_text(["4", "2", "7", "eos"])
    publish(view_of(step=3))
    expect(step).to_have_text("step 3/4")
    publish(view_of("9 9", step=1))
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_text(["9", "9", "eos"])
    expect(step).to_have_text("step 1/3")
    tab.mouse.wheel(0, 200)  # looking further down is not leaving
    expect(change).to_have_text("Explore alone")
    tab.get_by_test_id("next").tap()
    expect(status).to_have_text("You have left the class and explore alone · 1 here")
    expect(step).to_have_text("step 2/3")
    publish(view_of(step=4))
    tab.reload()
    expect(status).to_have_text("You have left the class and explore alone · 1 here")
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_text(["9", "9", "eos"])
    expect(change).to_be_in_viewport(ratio=1)
    change.tap()
    expect(status).to_have_text("Following the host · 1 here")
    expect(step).to_have_text("step 4/4")


def test_a_phone_has_the_inputs_on_top_unless_the_picture_is_touched(
    phone: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    publish(view_of())
    tab = phone()
    tab.goto(class_address)
    change, source = tab.get_by_test_id("class-explore"), tab.get_by_test_id("source")
    expect(tab.get_by_test_id("step-count")).to_be_in_viewport()
    expect(source).not_to_be_in_viewport()
    change.tap()
    expect(source).to_be_in_viewport()
    change.tap()
    expect(source).not_to_be_in_viewport()
    step = tab.get_by_test_id("next")
    before = step.bounding_box()
    step.tap()
    expect(tab.get_by_test_id("class-status")).to_have_text(
        "You have left the class and explore alone · 1 here"
    )
    assert step.bounding_box() == before


def test_a_guest_is_told_of_a_host_without_a_picture_and_of_a_lost_server(
    phone: Callable[..., Page], class_address: str, publish: Publish, complaints: list[str]
) -> None:
    publish(view_of())
    tab = phone()
    tab.add_init_script(
        "const Source = EventSource; window.streams = [];"
        "window.EventSource = class extends Source {"
        " constructor(...given) { super(...given); streams.push(this); } };"
    )
    tab.goto(class_address)
    status = tab.get_by_test_id("class-status")
    expect(status).to_have_text("Following the host · 1 here")
    publish(view_of(paused=True))
    expect(status).to_have_text("The host is on another page; this is the last picture · 1 here")
    streams = re.compile("class/events")
    tab.route(streams, lambda route: route.abort())
    tab.evaluate("streams.at(-1).onerror()")
    expect(status).to_have_text("No connection to the class. Trying again …")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    tab.unroute(streams)
    publish(view_of(step=3))
    expect(status).to_have_text("Following the host · 1 here")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/4")
    complaints.clear()  # the browser's own, of the requests


def test_a_phone_is_led_to_a_calculation_and_back_to_the_picture(
    phone: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    publish(view_of())
    tab = phone()
    tab.goto(class_address)
    expect(tab.get_by_test_id("map-title")).to_be_in_viewport()
    publish({"query": {**view_of()["query"], "cell": "1.1"}})
    expect(tab.get_by_test_id("inside-title")).to_be_in_viewport()
    expect(tab.get_by_test_id("map-title")).not_to_be_in_viewport()
    publish(view_of())
    expect(tab.get_by_test_id("map-title")).to_be_in_viewport()


@pytest.mark.parametrize(("moving", "step"), [("End", 4), ("PageDown", 3)])
def test_a_key_that_moves_the_player_explores_alone(
    moving: str,
    step: int,
    new_visitor: Callable[..., Page],
    class_address: str,
    publish: Publish,
) -> None:
    publish(view_of())
    tab = new_visitor(1024, 768)
    tab.goto(class_address)
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    tab.evaluate("document.body.style.paddingBottom = '2000px'")  # the page scrolls by the last one
    for key in ("Tab", "Shift", "PageDown"):
        tab.keyboard.press(key)
    expect(tab.get_by_test_id("class-status")).to_have_text("Following the host · 1 here")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    tab.evaluate("document.body.style.paddingBottom = ''")
    tab.keyboard.press(moving)
    expect(tab.get_by_test_id("class-status")).to_have_text(
        "You have left the class and explore alone · 1 here"
    )
    expect(tab.get_by_test_id("step-count")).to_have_text(f"step {step}/4")


def test_back_during_a_vote_keeps_what_the_host_shows(
    new_visitor: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    publish(view_of())
    tab = new_visitor(1024, 768)
    tab.goto(class_address)
    chips = tab.get_by_test_id("strip-source").locator(".chip")
    status, change = tab.get_by_test_id("class-status"), tab.get_by_test_id("class-explore")
    expect(chips).to_have_text(["4", "2", "7", "eos"])
    change.click()
    tab.get_by_test_id("source").fill("1 2")
    tab.get_by_test_id("source").press("Enter")
    expect(chips).to_have_text(["1", "2", "eos"])
    host = view_of("9 9", step=1)
    publish(host)
    change.click()
    expect(chips).to_have_text(["9", "9", "eos"])
    publish(host, QUESTION)
    expect(tab.get_by_test_id("class-choices")).to_be_visible()
    expect(tab).to_have_url(re.compile(r"text=9\+9.*step=1"))  # it is written after a while
    tab.evaluate("addEventListener('hashchange', () => document.body.classList.add('moved'))")
    tab.go_back()
    expect(tab.locator("body.moved")).to_be_attached()
    publish(host, {**QUESTION, "answer": 0})
    expect(tab.get_by_test_id("player")).to_be_visible()
    expect(status).to_have_text("Following the host · 1 here")
    expect(chips).to_have_text(["9", "9", "eos"])
    publish(view_of("9 9", step=2))
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/3")
    expect(chips).to_have_text(["9", "9", "eos"])
    tab.go_forward()  # no vote is open: who goes through the history explores alone
    expect(status).to_have_text("You have left the class and explore alone · 1 here")


def test_a_vote_is_all_that_a_phone_shows_until_the_reveal(
    phone: Callable[..., Page], class_address: str, publish: Publish, complaints: list[str]
) -> None:
    view = view_of(scores=True)
    publish(view)
    tab = phone()
    tab.goto(class_address)
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    publish(view, QUESTION)
    choices = tab.get_by_test_id("class-choices").get_by_role("button")
    expect(choices).to_have_text(["2", "4", "7", "9"])
    expect(tab.get_by_test_id("class-question")).to_have_text("What does the model write next?")
    expect(tab.get_by_test_id("class-about")).to_have_text("4 2 7")
    for name in ("player", "source", "class-status", "class-tally"):
        expect(tab.get_by_test_id(name)).to_be_hidden()
    assert tab.evaluate("document.documentElement.scrollHeight <= innerHeight")
    sizes = [one.bounding_box() for one in choices.all()]
    assert min(box["height"] for box in sizes if box) >= 72
    note = tab.get_by_test_id("class-note")
    votes = re.compile("class/vote$")
    tab.route(votes, lambda route: route.abort())
    choices.nth(1).tap()
    expect(note).to_have_text("Your choice was not sent. Tap again.")
    expect(tab.locator(".choice[aria-pressed=true]")).to_have_count(0)
    tab.unroute(votes)
    complaints.clear()  # the browser's own, of the request
    for index in (1, 0):
        choices.nth(index).tap()
        expect(choices.nth(index)).to_have_attribute("aria-pressed", "true")
        expect(note).to_have_text("Tap another to change.")
    expect(tab.locator(".choice[aria-pressed=true]")).to_have_count(1)
    publish(view, {**QUESTION, "answer": 0})
    expect(note).to_have_text("✓ You were right.")
    expect(tab.get_by_test_id("class-tally")).to_have_text("1 of 1 right")
    expect(tab.get_by_test_id("player")).to_be_visible()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    assert tab.evaluate("scrollY") == 0
    key = {"tokens": ["<bos>", "4"], "kind": "key", "head": "L0 H1"}
    publish(view, {**key, "candidates": ["2", "7", "2"], "positions": [0, 1, 2]})
    expect(choices).to_have_text(["2place 1", "7", "2place 3"])
    choices.nth(2).tap()
    expect(choices.nth(2)).to_have_attribute("aria-pressed", "true")
    publish(view, {**key, "candidates": ["2", "7", "2"], "positions": [0, 1, 2], "answer": 1})
    expect(note).to_have_text("✗ The head looks at another one.")
    expect(tab.get_by_test_id("class-tally")).to_have_text("1 of 2 right")


def test_guests_read_the_card_of_a_lesson_and_answer_it(
    phone: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    publish(view_of(card=CARD))
    tab = phone()
    tab.goto(class_address)
    expect(tab.get_by_test_id("lesson-text")).to_have_text("It copies.")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("2/3")
    asked = {
        "tokens": [],
        "kind": "card",
        "prompt": "What comes?",
        "candidates": ["4", "two words"],
    }
    publish(view_of(card=CARD), asked)
    expect(tab.get_by_test_id("class-question")).to_have_text("What comes?")
    expect(tab.get_by_test_id("class-about")).to_have_text("It copies.")
    expect(tab.get_by_test_id("class-card")).to_be_hidden()
    tab.get_by_role("button", name="two words").tap()
    expect(tab.get_by_role("button", name="two words")).to_have_attribute("aria-pressed", "true")
    because = "It is 4: it stands first."
    publish(view_of(card={**CARD, "because": because}), {**asked, "answer": 0})
    expect(tab.get_by_test_id("class-note")).to_have_text(say("class_tools.voted_wrong_card"))
    expect(tab.get_by_test_id("lesson-answer")).to_have_text(because)
    publish(view_of())
    expect(tab.get_by_test_id("class-card")).to_be_hidden()


def test_a_trace_of_the_host_alone_can_be_looked_at(
    new_visitor: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    """An upload, which no guest's browser can compute."""
    encoder = {**SHOWN, "site": "encoder", "head": "0", "step": "1"}
    publish({"query": encoder, "trace": KEY})
    tab = new_visitor(1024, 768)
    tab.goto(class_address)
    chips = tab.get_by_test_id("strip-source").locator(".chip")
    expect(chips).to_have_text(["x", "y"])
    expect(tab.get_by_test_id("map-title")).to_contain_text("Encoder")
    assert not tab.evaluate("[...document.scripts].some((one) => one.src.includes('models/'))")
    publish(view_of())  # of a model that the browser has
    expect(chips).to_have_text(["4", "2", "7", "eos"])
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")


def test_a_model_that_could_not_be_fetched_once_is_tried_again_with_another_text(
    new_visitor: Callable[..., Page],
    class_address: str,
    publish: Publish,
    complaints: list[str],
) -> None:
    tab = new_visitor(1024, 768)
    tab.route("**/models/**", lambda route: route.abort())
    publish(view_of(trace=KEY))
    tab.goto(class_address)
    chips = tab.get_by_test_id("strip-source").locator(".chip")
    expect(chips).to_have_text(["x", "y"])  # what the host's server has by this key
    tab.unroute("**/models/**")
    publish(view_of("9 9", step=1, trace=KEY))
    expect(chips).to_have_text(["9", "9", "eos"])
    publish(view_of(trace=KEY))
    expect(chips).to_have_text(["4", "2", "7", "eos"])
    complaints.clear()  # of the files that did not come


def test_a_guest_whom_nobody_leads_has_the_whole_page(
    new_visitor: Callable[..., Page], class_address: str, publish: Publish
) -> None:
    publish()
    tab = new_visitor(1024, 768)
    tab.goto(f"{class_address}#model=copy&text=1+2&step=1")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/3")
    expect(tab.get_by_test_id("class-status")).to_contain_text("You are in a class.")
    assert tab.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
    publish(view_of())
    expect(tab.get_by_test_id("class-status")).to_have_text("Following the host · 1 here")
    expect(tab).to_have_url(re.compile(r"text=4\+2\+7"))
