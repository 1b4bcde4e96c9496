"""The player by keyboard, and the names of its controls."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from explorer.components.player.payload import View
from explorer.core.i18n import LANGUAGES
from tests.support.example_traces import example_trace
from tests.support.page_checks import settle


def test_keys_step_except_in_text_boxes(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    count = tab.get_by_test_id("step-count")
    for key, step in [
        ("Home", 1),
        ("ArrowRight", 2),
        ("ArrowRight", 3),
        ("ArrowLeft", 2),
        ("End", 6),
    ]:
        tab.keyboard.press(key)
        expect(count).to_have_text(f"step {step}/6")
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("player")).to_have_class(re.compile("projector"))
    sizes = tab.locator(".axis-label, .chip, button:not(.thumbnail), .sentence").evaluate_all(
        "nodes => nodes.map((node) => parseFloat(getComputedStyle(node).fontSize))"
    )
    assert min(sizes) >= 18
    tab.evaluate("document.body.append(document.createElement('input'))")
    tab.locator("body > input").focus()
    for key in ("Home", "p", " "):
        tab.keyboard.press(key)
    settle(tab)
    tab.evaluate("document.querySelector('body > input').remove()")
    expect(count).to_have_text("step 6/6")
    tab.get_by_test_id("site-decoder").focus()
    tab.keyboard.press("Space")
    expect(tab.get_by_test_id("site-decoder")).to_have_attribute("aria-checked", "true")
    expect(tab.get_by_test_id("play")).to_have_accessible_name("Play")


@pytest.mark.parametrize(
    "control", ["first", "last", "next", "head-0-1", "site-cross", "ahead", "projector", "save"]
)
def test_after_a_click_the_keys_step_and_play(show: Callable[..., Page], control: str) -> None:
    tab = show(example_trace(), view=View(site="cross", step=2))
    count, play = tab.get_by_test_id("step-count"), tab.get_by_test_id("play")
    tab.get_by_test_id(control).click()
    settle(tab)
    title = tab.get_by_test_id("map-title").inner_text()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    expect(count).to_have_text("step 2/6")
    tab.keyboard.press("Space")
    expect(play).to_have_accessible_name("Pause")
    expect(count).to_have_text("step 3/6")
    tab.keyboard.press("Space")
    expect(play).to_have_accessible_name("Play")
    expect(tab.get_by_test_id("map-title")).to_have_text(title)
    expect(tab.get_by_test_id("ahead")).not_to_be_checked()


def test_space_plays_on_a_focused_transport_button_and_enter_presses_it(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(site="cross", step=4))
    count, play = tab.get_by_test_id("step-count"), tab.get_by_test_id("play")
    tab.get_by_test_id("first").focus()
    tab.keyboard.press("Enter")
    expect(count).to_have_text("step 1/6")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Space")
    expect(play).to_have_accessible_name("Pause")
    expect(count).to_have_text("step 3/6")
    tab.get_by_test_id("step").focus()
    tab.keyboard.press("Space")
    expect(play).to_have_accessible_name("Play")
    tab.get_by_test_id("ahead").focus()
    tab.keyboard.press("Space")  # reached by the Tab key, it is used by keys
    expect(tab.get_by_test_id("ahead")).to_be_checked()


@pytest.mark.parametrize("control", ["head-0-1", "alignment-off", "candidates-log"])
def test_space_presses_a_focused_control_and_does_not_play(
    show: Callable[..., Page], control: str
) -> None:
    tab = show(example_trace(), view=View(site="cross", layer=0, head=0, step=2))
    button = tab.get_by_test_id(control)
    button.focus()
    tab.keyboard.press("Space")
    chosen = "aria-pressed" if control.startswith("head") else "aria-checked"
    expect(button).to_have_attribute(chosen, "true")
    expect(tab.get_by_test_id("play")).to_have_accessible_name("Play")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")


def test_a_radio_group_is_one_tab_stop_and_arrow_keys_move_inside(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(site="cross", step=3))
    for name, chosen in [("Attention", "Cross"), ("Alignment", "no alignment")]:
        radios = tab.get_by_role("radiogroup", name=name).get_by_role("radio")
        stops = radios.evaluate_all("all => all.filter((one) => one.tabIndex === 0)")
        assert len(stops) == 1
        expect(radios.and_(tab.get_by_role("radio", name=chosen))).to_have_attribute(
            "tabindex", "0"
        )
    tab.get_by_test_id("site-cross").focus()
    for key, site in [("ArrowLeft", "decoder"), ("ArrowUp", "encoder"), ("ArrowLeft", "cross")]:
        tab.keyboard.press(key)
        chosen = tab.get_by_test_id(f"site-{site}")
        expect(chosen).to_have_attribute("aria-checked", "true")
        expect(chosen).to_be_focused()
    tab.get_by_test_id("candidates-percent").focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("candidates-log")).to_have_attribute("aria-checked", "true")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/6")


def test_controls_have_accessible_names(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    for name in ("First", "Previous", "Play", "Next", "Last"):
        expect(tab.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(tab.get_by_role("slider", name="Step")).to_be_visible()
    group = tab.get_by_role("radiogroup", name="Attention")
    for name in ("Encoder", "Decoder", "Cross"):
        expect(group.get_by_role("radio", name=name)).to_be_visible()
    tab.get_by_role("slider", name="Step").fill("2")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    expect(tab.get_by_test_id("sentence")).to_have_attribute("aria-live", "polite")
    keys = tab.get_by_test_id("keys")  # a saved page has nothing to look inside with
    expect(keys).to_have_text("← → Home End · space · G · P")


UNNAMED = r"""() => {
  const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}\s]/gu, "")
    .replace(/\s+/g, " ").trim();
  return [...document.querySelectorAll("button[aria-label]")]
    .filter((node) => !plain(node.ariaLabel).includes(plain(node.innerText)))
    .map((node) => [node.ariaLabel, node.innerText]);
}"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_name_of_a_control_contains_the_text_on_it(
    show: Callable[..., Page], language: str
) -> None:
    tab = show(example_trace(), language)
    expect(tab.locator(".thumbnail .score").first).to_be_visible()
    assert tab.evaluate(UNNAMED) == []
    headings = "[...document.querySelectorAll('h1,h2,h3,h4')].map((node) => node.tagName)"
    levels = tab.evaluate(headings)
    assert levels[0] == "H1"  # the title of the saved page
    assert set(levels[1:]) == {"H2", "H3"}


def test_play_runs_to_the_end_and_stops(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(step=4))
    tab.get_by_role("button", name="Play").click()
    expect(tab.get_by_test_id("play")).to_have_accessible_name("Pause")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 6/6", timeout=10_000)
    expect(tab.get_by_test_id("play")).to_have_accessible_name("Play")


@pytest.mark.parametrize(
    ("language", "names"), [("en", ("Play", "Pause")), ("zh", ("播放", "暂停"))]
)
def test_play_is_called_pause_while_it_plays_and_moves_nothing(
    show: Callable[..., Page], language: str, names: tuple[str, str]
) -> None:
    tab = show(example_trace(), language, view=View(step=1))
    play, following = tab.get_by_test_id("play"), tab.get_by_test_id("next")
    place = following.bounding_box()
    for name in (*names, names[0]):
        expect(play).to_have_accessible_name(name)
        expect(play.locator(".word")).to_have_text(name)
        assert following.bounding_box() == place
        play.click()


def test_a_text_that_opens_in_the_middle_says_why_until_it_is_stepped_through(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(step=4, ahead=True, suggested=True))
    hint = tab.get_by_test_id("hint")
    expect(hint).to_have_text("Play it, or guess")
    tab.get_by_test_id("first").click()
    expect(hint).to_have_text("")
    for view in (View(step=1, ahead=True, suggested=True), View(step=4, ahead=True)):
        tab = show(example_trace(), view=view)
        expect(tab.get_by_test_id("hint")).to_have_text("Guess: what comes next?")


def test_the_keys_of_a_remote_step_unless_the_page_scrolls_by_them(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(site="cross", step=1))
    count = tab.get_by_test_id("step-count")
    for key, step in [("PageDown", 2), ("ArrowDown", 3), ("PageUp", 2), ("ArrowUp", 1)]:
        tab.keyboard.press(key)
        expect(count).to_have_text(f"step {step}/6")
    tab.evaluate("document.body.style.paddingBottom = '2000px'")
    tab.keyboard.press("PageDown")
    tab.wait_for_function("() => scrollY > 0")
    expect(count).to_have_text("step 1/6")
    tab.keyboard.press("p")
    for key, step in [("PageDown", 2), ("ArrowDown", 3), ("PageUp", 2), ("ArrowUp", 1)]:
        tab.keyboard.press(key)
        expect(count).to_have_text(f"step {step}/6")
    tab.evaluate("document.body.append(document.createElement('input'))")
    tab.locator("body > input").focus()
    tab.keyboard.press("PageDown")
    settle(tab)
    expect(count).to_have_text("step 1/6")
    tab.evaluate("document.querySelector('body > input').remove()")
    tab.evaluate("document.body.style.paddingBottom = ''")
    tab.get_by_test_id("head-0-1").focus()
    tab.keyboard.press("ArrowDown")  # goes to the next head, as before
    expect(tab.get_by_test_id("head-0-2")).to_be_focused()
    expect(count).to_have_text("step 1/6")
    tab.keyboard.press("p")


@pytest.mark.parametrize(
    ("language", "name", "keys"),
    [
        ("en", "Keys", "Page Up and Page Down, as remotes of presenters send them"),
        ("zh", "按键", "翻页笔的 ↑ ↓、Page Up/Page Down"),
    ],
)
def test_the_keys_are_listed_behind_the_question_mark(
    show: Callable[..., Page], language: str, name: str, keys: str
) -> None:
    tab = show(example_trace(), language, everything=False)
    tab.get_by_test_id("legend-words").click()
    entry = tab.get_by_test_id("legend-words-words").locator("section").last
    expect(entry.locator("h3")).to_have_text(name)
    expect(entry.locator("p")).to_contain_text(keys)
