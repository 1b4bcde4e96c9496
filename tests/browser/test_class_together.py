"""A class with its host: what the host's page publishes, and what the guests' pages make of it."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from explorer.core.i18n import say
from tests.support.app_server import hosted_app

Guests = Callable[..., Page]
"""Open the page of one more guest, of a width and a height."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running app in class mode, with nothing trained on this machine."""
    with hosted_app(tmp_path_factory.mktemp("runs")) as address:
        yield address


@pytest.fixture
def host(new_host: Callable[[str], Page], address: str) -> Iterator[Page]:
    """The host's tab. The server is that of the next test, too: at the end it leads nobody."""
    tab = new_host(address)
    yield tab
    tab.goto("about:blank")  # whose page may publish once more
    headers = {"Content-Type": "application/json"}
    tab.request.post(f"{address}class/lead", headers=headers, data={"page": ""})
    assert tab.request.post(f"{address}class/screen", headers=headers, data={}).status == 204


@pytest.fixture
def guest(new_visitor: Callable[..., Page], address: str) -> Guests:
    """A tab of a guest, to whom the server gives the page that needs no server."""

    def make(width: int = 390, height: int = 844) -> Page:
        tab = new_visitor(width, height)
        tab.goto(address)
        return tab

    return make


def test_a_class_follows_its_host_and_votes(host: Page, guest: Guests, address: str) -> None:
    phone, laptop = guest(), guest(1024, 768)
    for tab in (phone, laptop):
        expect(tab.get_by_test_id("class-status")).to_contain_text("You are in a class.")
        expect(tab.get_by_test_id("class-explore")).to_be_hidden()
        assert "pip install" not in tab.locator("body").inner_text()
        expect(tab.get_by_test_id("elsewhere")).to_have_count(0)
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=0&head=0&step=3")
    lead(host)
    for tab in (phone, laptop):
        expect(tab.get_by_test_id("class-status")).to_have_text("Following the host · 2 here")
        expect(tab.get_by_test_id("step-count")).to_have_text("step 3/4")
    host.keyboard.press("Home")
    host.get_by_test_id("head-0-2").click()
    for tab in (phone, laptop):
        expect(tab.get_by_test_id("step-count")).to_have_text("step 1/4")
        expect(tab.get_by_test_id("map-title")).to_contain_text("L0 H2")
    source = host.get_by_role("textbox", name="Source")
    source.fill("5 3 2")
    source.press("Enter")
    for tab in (phone, laptop):
        chips = tab.get_by_test_id("strip-source").locator(".chip")
        expect(chips).to_have_text(["5", "3", "2", "eos"])
    expect(source).not_to_be_focused()  # the player has the keys again
    host.keyboard.press("Home")
    host.keyboard.press("g")
    answers = phone.get_by_test_id("class-choices").get_by_role("button")
    expect(answers.first).to_be_visible()
    offered = answers.all_inner_texts()
    assert set(offered) == {"5", "3", "2", "eos"}  # the source, and nothing else
    expect(host.get_by_test_id("candidates")).to_be_hidden()  # the class has the choices
    expect(host.get_by_test_id("typed-guess")).to_be_hidden()
    expect(host.get_by_test_id("tally")).to_be_hidden()
    bars = host.get_by_test_id("class-bars").locator(".vote")
    expect(bars.locator(".token")).to_have_text(offered)
    wrong = next(token for token in offered if token != "2")
    for tab, token in ((phone, wrong), (laptop, wrong), (phone, "2")):
        button = tab.get_by_test_id("class-choices").get_by_role("button", name=token, exact=True)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    expect(host.get_by_test_id("class-answered")).to_have_text("2 of 2")
    counts = [str({"2": 1, wrong: 1}.get(token, 0)) for token in offered]
    expect(bars.locator(".votes")).to_have_text(counts)
    expect(host.get_by_test_id("ask-key")).to_be_visible()
    host.get_by_test_id("class-scores").check()
    host.get_by_test_id("class-reveal").click()
    expect(host.get_by_test_id("ask-key")).to_be_hidden()
    expect(host.get_by_test_id("candidates")).to_be_visible()
    expect(phone.get_by_test_id("class-note")).to_have_text("✓ You were right.")
    expect(phone.get_by_test_id("class-tally")).to_have_text("1 of 1 right")
    expect(laptop.get_by_test_id("class-note")).to_have_text("✗ It writes 2.")
    for tab in (host, phone, laptop):
        expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("2")


def test_a_class_guesses_where_a_head_looks(host: Page, guest: Guests, address: str) -> None:
    """Cross-attention, L1 H2, from "bos" over "5 1 2 eos" and two that are padding."""
    phone = guest()
    query = "model=reverse&text=5+1+2&pad=2&site=cross&layer=1&head=2&step=1&guess=1"
    host.goto(f"{address}?{query}")
    lead(host)
    host.get_by_test_id("ask-key").click()
    question = "Reading “bos”, where does head L1 H2 look most?"
    expect(phone.get_by_test_id("class-question")).to_have_text(question)
    expect(host.get_by_test_id("class-asked")).to_have_text(question)
    choices = phone.get_by_test_id("class-choices").get_by_role("button")
    expect(choices).to_have_text(["5", "1", "2", "eos"])
    choices.nth(2).click()
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 1")
    host.get_by_test_id("class-reveal").click()
    expect(phone.get_by_test_id("class-note")).to_have_text("✓ You were right.")
    expect(phone.get_by_test_id("row-weights")).to_contain_text("1.0")
    expect(phone.locator("[data-testid=strip-target] .predicted")).to_have_text("?")


def test_a_class_goes_through_a_lesson(host: Page, guest: Guests, address: str) -> None:
    phone = guest()
    host.goto(f"{address}?model=reverse&step=1")
    lead(host)
    host.goto(f"{address}?lesson=query-and-key&card=1")
    choices = phone.get_by_test_id("class-choices").get_by_role("button")
    expect(choices).to_have_text(["7", "9", "4"])
    expect(host.get_by_test_id("class-asked")).to_be_hidden()  # the card asks it
    expect(phone.get_by_test_id("class-question")).to_have_text(
        host.get_by_test_id("lesson-question").inner_text()
    )
    choices.nth(2).click()
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 1")
    host.get_by_test_id("class-reveal").click()
    expect(phone.get_by_test_id("class-note")).to_have_text("✓ You were right.")
    answer = host.get_by_test_id("lesson-answer")
    expect(answer).to_contain_text("It is 4")
    expect(phone.get_by_test_id("lesson-answer")).to_have_text(answer.inner_text())
    expect(phone.locator("[data-testid=strip-target] .predicted")).to_have_text("4")
    host.get_by_test_id("lesson-next").click()
    expect(phone.get_by_test_id("class-question")).to_contain_text("Which key")
    choices.nth(0).click()
    host.get_by_test_id("lesson-choices").get_by_role("button", name="4", exact=True).click()
    expect(phone.get_by_test_id("class-note")).to_have_text(say("class_tools.voted_wrong_card"))
    host.get_by_test_id("lesson-leave").click()
    expect(phone.get_by_test_id("class-card")).to_be_hidden()
    expect(phone.get_by_test_id("class-choices")).to_be_hidden()


@pytest.mark.parametrize("way", ["reload", "heads"])
def test_a_card_that_was_answered_stays_so(
    host: Page, guest: Guests, address: str, way: str
) -> None:
    """After the host's reload, and after a way to the heads and back; each vote counts once."""
    phone = guest()
    host.goto(f"{address}?model=reverse&step=1")
    lead(host)
    host.goto(f"{address}?lesson=query-and-key&card=1")
    choices = phone.get_by_test_id("class-choices").get_by_role("button")
    expect(choices).to_have_text(["7", "9", "4"])
    choices.nth(2).click()
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 1")
    host.get_by_test_id("class-scores").check()
    host.get_by_test_id("class-reveal").click()
    tally = phone.get_by_test_id("class-tally")
    expect(tally).to_have_text("1 of 1 right")
    asked = questions(host)
    if way == "reload":
        host.reload()
    else:
        host.get_by_role("link", name="Heads").click()
        expect(phone.get_by_test_id("view-head-grid")).to_be_visible()
        host.get_by_role("link", name="Explore").click()
    because = "It is 4"
    expect(host.get_by_test_id("lesson-answer")).to_contain_text(because)
    expect(host.locator("[data-testid=strip-target] .predicted")).to_have_text("4")
    expect(phone.get_by_test_id("player")).to_be_visible()
    expect(phone.get_by_test_id("lesson-answer")).to_contain_text(because)
    expect(tally).to_have_text("1 of 1 right") if way == "reload" else expect(tally).to_be_hidden()
    host.get_by_test_id("lesson-next").click()
    expect(phone.get_by_test_id("class-question")).to_contain_text("Which key")
    host.get_by_test_id("lesson-back").click()
    expect(phone.get_by_test_id("lesson-progress")).to_have_text("1/6")
    expect(phone.get_by_test_id("class-choices")).to_be_hidden()
    kinds = {(question["kind"], question["answer"]) for question in asked if question}
    assert kinds == {("card", 2), ("card", None)}
    # To ask it anew is the host's own wish.
    host.get_by_test_id("lesson-again").click()
    expect(choices).to_have_text(["7", "9", "4"])
    choices.nth(0).click()
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 1")
    host.get_by_test_id("class-reveal").click()
    expect(tally).to_have_text("1 of 1 right")


def test_a_lesson_that_is_left_asks_nothing_more(host: Page, guest: Guests, address: str) -> None:
    """Its player has a question of Guess, too, which the class was never asked."""
    phone = guest()
    host.goto(f"{address}?model=reverse&step=1")
    lead(host)
    host.goto(f"{address}?lesson=query-and-key&card=1")
    expect(phone.get_by_test_id("class-question")).to_have_text(
        host.get_by_test_id("lesson-question").inner_text()
    )
    asked = questions(host)
    host.get_by_role("link", name="Heads").click()
    expect(phone.get_by_test_id("view-head-grid")).to_be_visible()
    expect(phone.get_by_test_id("class-choices")).to_be_hidden()
    assert [question for question in asked if question and question["kind"] != "card"] == []


def test_a_class_follows_its_host_to_the_heads(host: Page, guest: Guests, address: str) -> None:
    laptop = guest(1024, 768)
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=0&head=0&step=1&guess=1")
    lead(host)
    expect(laptop.get_by_test_id("class-choices").get_by_role("button").first).to_be_visible()
    host.get_by_test_id("class-reveal").click()
    expect(laptop.get_by_test_id("class-note")).to_be_visible()
    host.get_by_role("link", name="Heads").click()
    host.get_by_test_id("head-1-2").click()
    expect(host).to_have_url(re.compile("layer=1&head=2"))  # the player of Explore has gone by then
    expect(laptop.get_by_test_id("class-choices")).to_be_hidden()
    expect(laptop.get_by_test_id("map-title")).to_contain_text("Cross · L1 H2")
    host.get_by_test_id("site-encoder").click()
    expect(laptop.get_by_test_id("map-title")).to_contain_text("Encoder")


def test_a_class_stays_on_the_page_its_host_went_to(
    host: Page, guest: Guests, address: str
) -> None:
    """The tools of the page before are gone: nothing they knew is published later."""
    laptop = guest(1024, 768)
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=0&head=0&step=1")
    lead(host)
    expect(laptop.get_by_test_id("step-count")).to_have_text("step 1/4")
    host.get_by_role("link", name="Heads").click()
    expect(laptop.get_by_test_id("view-head-grid")).to_be_visible()
    laptop.wait_for_timeout(5000)  # longer than a page without a picture is waited for
    expect(laptop.get_by_test_id("view-head-grid")).to_be_visible()
    expect(laptop.get_by_test_id("class-status")).to_have_text("Following the host · 1 here")


def test_a_class_watches_a_training_as_it_comes(host: Page, guest: Guests, address: str) -> None:
    phone, loner = guest(), guest(1024, 768)
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=0&head=0&step=3")
    lead(host)
    for tab in (phone, loner):
        expect(tab.get_by_test_id("step-count")).to_have_text("step 3/4")
    fetched: list[str] = []
    host.goto(f"{address}train?run=recorded/reverse")
    replay, count = phone.get_by_test_id("training-replay"), phone.get_by_test_id("moment-count")
    expect(replay).to_have_attribute("data-run", "reverse")  # the recorded one
    expect(count).to_have_text("moment 40/40 · step 1000")
    expect(phone.get_by_test_id("step-count")).to_be_hidden()
    phone.get_by_test_id("language-zh").click()
    expect(replay.get_by_test_id("run-state")).to_have_text("已完成")
    # The host selects a moment and a head.
    host.get_by_test_id("moment-first").click()
    expect(count).to_have_text("时刻 1/40 · 第 25 步")
    map_title = replay.get_by_test_id("map-title")
    host.get_by_test_id("head-0-2").click()
    expect(map_title).to_contain_text("L0 H2")
    host.get_by_test_id("site-encoder").click()
    expect(map_title).to_contain_text("编码器")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # A guest may look at another moment, until the host selects the next.
    phone.get_by_test_id("moment-play").scroll_into_view_if_needed()
    phone.keyboard.press("End")
    expect(count).to_have_text("时刻 40/40 · 第 1000 步")
    expect(phone.get_by_test_id("class-status")).to_contain_text("正在跟随主持人")
    host.keyboard.press("ArrowRight")
    expect(count).to_have_text("时刻 2/40 · 第 50 步")
    loner.get_by_test_id("class-explore").click()
    expect(loner.get_by_test_id("step-count")).to_have_text("step 3/4")
    expect(loner.get_by_test_id("training-replay")).to_be_hidden()
    # Another training, from its first step.
    phone.get_by_test_id("language-en").click()
    phone.on("response", lambda answer: fetched.append(answer.url))
    host.get_by_role("button", name="Start", exact=True).click()
    expect(replay).to_have_attribute("data-run", re.compile("reverse-"))
    # The class votes on what forms, on the phones and nowhere else.
    expect(phone.get_by_test_id("class-question")).to_have_text("Which picture will a head become?")
    expect(host.get_by_test_id("picture-guess")).to_be_hidden()
    choices = phone.get_by_test_id("class-choices").get_by_role("button")
    expect(choices).to_have_count(3)
    expect(replay).to_be_hidden()
    choices.nth(1).click()  # from top right to bottom left: reverse
    expect(host.get_by_test_id("class-bars").locator(".votes")).to_have_text(["0", "1", "0"])
    host.get_by_test_id("class-reveal").click()
    expect(phone.get_by_test_id("class-note")).to_have_text("✓ You were right.")
    expect(replay).to_be_visible()
    expect(count).to_have_text(re.compile(r"moment (\d+)/\1 "), timeout=120_000)
    seen = count.inner_text()
    picture = replay.get_by_test_id("probe").locator("canvas").first
    before = picture.evaluate("canvas => canvas.toDataURL()")
    expect(count).not_to_have_text(seen, timeout=120_000)
    expect(count).to_have_text(re.compile(r"moment (\d+)/\1 "))
    assert picture.evaluate("canvas => canvas.toDataURL()") != before
    assert any("/class/training" in url for url in fetched)
    assert not any("/moments/runs/" in url for url in fetched)  # the picture comes with the news
    host.locator(".st-key-stop").get_by_role("button", name="Stop").click()
    for page in (host, replay):
        expect(page.get_by_test_id("run-state")).to_have_text("stopped")
    expect(replay.get_by_test_id("run-facts")).to_have_text(
        host.get_by_test_id("run-facts").inner_text()
    )
    host.get_by_role("link", name="Explore").click()
    expect(phone.get_by_test_id("step-count")).to_be_visible()
    expect(replay).to_be_hidden()
    host.get_by_test_id("first").click()
    expect(phone.get_by_test_id("step-count")).to_have_text("step 1/7")  # a bare address


def test_who_comes_during_a_training_sees_it_and_may_explore_alone(
    host: Page, guest: Guests, address: str
) -> None:
    host.goto(f"{address}?model=reverse&text=5+1+2&step=3")
    lead(host)
    host.goto(f"{address}train?run=recorded/reverse")
    late = guest(1024, 768)
    expect(late.get_by_test_id("moment-count")).to_have_text("moment 40/40 · step 1000")
    late.get_by_test_id("class-explore").click()
    expect(late.get_by_test_id("step-count")).to_be_visible()
    late.get_by_test_id("training").click()
    expect(late).to_have_url(re.compile(r"training\.en\.html"))
    late.get_by_test_id("class-link").click()
    expect(late.get_by_test_id("class-status")).to_contain_text("Following the host")
    expect(late.get_by_test_id("moment-count")).to_be_visible()


def test_a_class_sees_the_heads_as_its_host_does(host: Page, guest: Guests, address: str) -> None:
    """The grid is drawn from the trace that the guest's browser has: nothing is asked for."""
    phone = guest()
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=0&head=0&step=3")
    lead(host)
    expect(phone.get_by_test_id("step-count")).to_have_text("step 3/4")
    expect(phone.locator(".plotted")).to_be_visible()
    asked: list[str] = []
    phone.on("request", lambda request: asked.append(request.url))
    player, grid = (phone.get_by_test_id(name) for name in ("player", "view-head-grid"))
    host.get_by_role("link", name="Heads").click()
    host.get_by_test_id("head-1-2").click()
    expect(pressed(phone)).to_have_attribute("data-testid", "head-1-2")
    assert grid.locator(".head-cell").count() == 8
    expect(player).to_have_count(0)
    expect(phone.get_by_test_id("verdict")).to_have_text("Cross · L1 H2")
    expect(phone.get_by_test_id("step-count")).to_have_text("step 3/4")
    axes = host.get_by_test_id("head-grid-axes").inner_text()
    expect(phone.get_by_test_id("head-grid-axes")).to_have_text(axes)
    expect(phone.get_by_text("_")).to_have_count(0)  # no name of a sentence in its place
    host.get_by_test_id("previous").click()
    expect(phone.get_by_test_id("step-count")).to_have_text("step 2/4")
    host.get_by_test_id("site-decoder").click()
    expect(phone.get_by_test_id("verdict")).to_have_text("Decoder · L1 H2")
    host.get_by_test_id("head-0-3").click()
    expect(pressed(phone)).to_have_attribute("data-testid", "head-0-3")
    assert not asked
    host.get_by_role("radio", name="Measurements").click()
    expect(phone.get_by_test_id("class-status")).to_contain_text("The host is on another page")
    host.get_by_role("link", name="Explore").click()
    expect(player).to_be_visible()
    expect(grid).to_have_count(0)


def test_a_guest_takes_the_heads_along_and_explores_alone_with_the_player(
    host: Page, guest: Guests, address: str
) -> None:
    phone = guest()
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=1&head=1&step=3")
    lead(host)
    host.get_by_role("link", name="Heads").click()
    expect(pressed(phone)).to_have_attribute("data-testid", "head-1-1")
    phone.get_by_test_id("head-0-2").click()
    expect(phone.get_by_test_id("class-status")).to_contain_text(
        "You have left the class and explore alone"
    )
    expect(pressed(phone)).to_have_attribute("data-testid", "head-0-2")
    host.get_by_test_id("head-1-3").click()
    expect(host.get_by_test_id("verdict")).to_contain_text("L1 H3")
    phone.get_by_test_id("class-explore").click()
    expect(pressed(phone)).to_have_attribute("data-testid", "head-1-3")
    phone.get_by_test_id("class-explore").click()
    expect(phone.get_by_test_id("map-title")).to_have_text("Cross · L1 H3")
    expect(phone.get_by_test_id("player")).to_be_visible()
    phone.get_by_test_id("class-explore").click()
    expect(pressed(phone)).to_have_attribute("data-testid", "head-1-3")


def test_after_the_reveal_a_phone_has_the_answer_and_the_picture_at_once(
    host: Page, guest: Guests, address: str
) -> None:
    phone = guest()
    host.goto(f"{address}?model=reverse&text=5+1+2&site=cross&layer=1&head=2&step=1&guess=1")
    lead(host)
    host.get_by_test_id("class-scores").check()
    choices = phone.get_by_test_id("class-choices").get_by_role("button")
    expect(choices).to_have_text(["1", "2", "4", "5"])
    choices.nth(0).click()
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 1")
    host.get_by_test_id("class-reveal").click()
    expect(phone.get_by_test_id("class-tally")).to_have_text("0 of 1 right")
    for index, shown in enumerate((True, True, False, False)):  # mine and the right one
        expect(choices.nth(index)).to_be_visible(visible=shown)
    expect(phone.get_by_test_id("class-note")).to_be_in_viewport(ratio=1)
    picture = phone.locator(".plotted")
    expect(picture).to_be_visible()
    box = picture.bounding_box()
    assert box is not None
    assert box["y"] <= 0.6 * 844
    assert phone.evaluate("scrollY") == 0
    host.get_by_test_id("next").click()
    expect(choices.nth(3)).to_be_visible()  # the next question has all of its choices


def test_a_class_goes_on_alone_while_its_host_is_away(
    host: Page, guest: Guests, address: str
) -> None:
    follower, loner = guest(), guest()
    host.goto(f"{address}?model=reverse&text=5+1+2&step=1&guess=1")
    lead(host)
    expect(loner.get_by_test_id("class-choices")).to_be_visible()
    # A page that is loaded again has what it had revealed.
    host.get_by_test_id("next").click()
    predicted = "[data-testid=strip-target] .predicted"
    for tab in (host, follower):
        expect(tab.locator(predicted)).to_have_text("2")
    loner.get_by_test_id("class-explore").click()
    expect(loner.get_by_test_id("class-status")).to_contain_text(
        "You have left the class and explore alone"
    )
    host.reload()
    expect(host.get_by_test_id("class-answered")).to_be_visible()
    for tab in (host, follower):
        expect(tab.locator(predicted)).to_have_text("2")
    expect(host.get_by_test_id("class-reveal")).to_be_hidden()
    host.get_by_test_id("next").click()
    expect(follower.get_by_test_id("class-choices").get_by_role("button").first).to_be_visible()
    expect(loner.get_by_test_id("class-status")).to_contain_text("The class votes now")
    expect(host).to_have_url(re.compile("step=2"))
    there = host.url
    host.goto("about:blank")
    for tab in (follower, loner):
        expect(tab.get_by_test_id("class-status")).to_contain_text("The host is away")
        expect(tab.get_by_test_id("class-choices")).to_be_hidden()
    follower.get_by_test_id("last").click()
    expect(follower.get_by_test_id("step-count")).to_have_text("step 4/4")
    host.goto(there)
    expect(follower.get_by_test_id("class-choices").get_by_role("button").first).to_be_visible()
    expect(loner.get_by_test_id("class-status")).to_contain_text("The class votes now")
    host.keyboard.press("g")
    expect(follower.get_by_test_id("class-status")).to_contain_text("Following the host")
    expect(follower.get_by_test_id("step-count")).to_have_text("step 2/4")


def test_a_second_tab_of_the_host_leads_when_it_is_told_to(
    host: Page, guest: Guests, address: str
) -> None:
    host.goto(f"{address}?model=reverse&text=5+1+2&step=1")
    lead(host)
    count = guest().get_by_test_id("step-count")
    expect(count).to_have_text("step 1/4")
    second = host.context.new_page()
    second.goto(f"{address}?model=reverse&text=5+1+2&step=3")
    status = second.get_by_test_id("class-status")
    expect(status).to_contain_text("led from another of your tabs")
    second.get_by_test_id("next").click()
    expect(second.get_by_test_id("step-count")).to_have_text("step 4/4")
    host.bring_to_front()
    host.get_by_test_id("next").click()
    expect(count).to_have_text("step 2/4")
    second.bring_to_front()
    second.get_by_test_id("class-take-over").click()
    expect(count).to_have_text("step 4/4")
    expect(status).to_contain_text("The class follows you")
    expect(host.get_by_test_id("class-status")).to_contain_text("led from another of your tabs")
    second.close()
    expect(host.get_by_test_id("class-status")).to_contain_text("The class follows you")
    expect(count).to_have_text("step 2/4")  # the other tab leads, after a time


def test_the_words_of_a_vote_are_not_cut(host: Page, guest: Guests, address: str) -> None:
    phone = guest()
    host.goto(f"{address}?model=english-french-early&step=2&guess=1&lang=en")
    lead(host)
    cut = "all => all.some((token) => token.scrollWidth > token.clientWidth + 1)"
    for kind in ("token", "key"):
        host.get_by_test_id(f"ask-{kind}").click()
        choices = phone.get_by_test_id("class-choices")
        expect(choices.get_by_role("button")).to_have_count(4)
        expect(host.get_by_test_id("class-bars").locator(".vote")).to_have_count(4)
        for shown in (choices, host.get_by_test_id("class-bars")):
            assert not shown.locator(".token").evaluate_all(cut)
    assert phone.evaluate("document.documentElement.scrollHeight <= innerHeight")


def pressed(tab: Page) -> Locator:
    """The selected head of the grid."""
    return tab.locator(".head-cell[aria-pressed=true]")


def questions(host: Page) -> list[dict[str, Any] | None]:
    """What the host's page asks the class from now on."""
    asked: list[dict[str, Any] | None] = []

    def hear(request: Request) -> None:
        if request.url.endswith("/class/screen"):
            asked.append(json.loads(request.post_data or "")["question"])

    host.on("request", hear)
    return asked


def lead(host: Page) -> None:
    """Switch on Follow me. The box is checked when the server has answered where a tab that has
    just been closed still counts as the one that leads."""
    expect(host.locator(".plotted")).to_be_visible()
    host.get_by_role("button", name="Share").click()
    host.get_by_test_id("class-lead").click()
    expect(host.get_by_test_id("class-lead")).to_be_checked()
    host.keyboard.press("Escape")
