"""Edit on Explore: the model is changed by pressing heads and cells of the picture."""

import re
from collections.abc import Callable
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.core.i18n import say
from tests.support.browsers import ENGINE

LINK = "?model=reverse&text=7+3+9+1+4"
CROSS = f"{LINK}&site=cross&layer=0&head=1&step=4"


@pytest.fixture
def edit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    """Open a link and begin to edit."""

    def open_tab(link: str = CROSS, **looks: bool) -> Page:
        tab = new_tab(**looks)
        tab.goto(address + link)
        tab.wait_for_selector(".plotted")
        tab.get_by_test_id("edit").click()
        expect(tab.get_by_test_id("edit-bar")).to_be_visible()
        return tab

    return open_tab


def outputs(tab: Page) -> list[str]:
    """The original output and the present one."""
    lines = tab.get_by_test_id("outputs").locator(".output").all()
    return [" ".join(line.locator(".token").all_inner_texts()) for line in lines]


def expect_done(tab: Page, *lines: str) -> None:
    """Wait until these interventions, and no others, are named in the URL."""
    if not lines:
        expect(tab).not_to_have_url(re.compile("[?&]do="))
        return
    words = re.escape(quote_plus(";".join(lines)))
    expect(tab).to_have_url(re.compile(f"[?&]do={words}(&|$)"))


def point(tab: Page, query: int, key: int, queries: int = 6, keys: int = 6) -> tuple[float, float]:
    """The middle of a cell of the large map, in the window."""
    box = tab.get_by_test_id("map").locator(".clip").bounding_box()
    assert box is not None
    across = box["x"] + (key + 0.5) * box["width"] / keys
    return across, box["y"] + (query + 0.5) * box["height"] / queries


def tap(tab: Page, query: int, key: int) -> None:
    tab.mouse.click(*point(tab, query, key))


def note(tab: Page) -> Locator:
    return tab.get_by_test_id("edit-note")


def test_a_head_is_struck_the_output_changes_and_it_comes_back(edit):
    tab = edit(f"{LINK}&site=decoder&layer=0&head=1&step=6")
    expect(note(tab)).to_contain_text("Tap a head: it is removed.")
    tab.get_by_test_id("head-0-0").click()
    expect_done(tab, "ablate decoder.0.0")
    expect(tab.get_by_test_id("changes")).to_contain_text("remove Decoder L0 H0")
    expect(tab.locator(".outputs .differs")).to_have_count(1)
    assert outputs(tab) == ["4 1 9 3 7 eos", "4 1 9 3 7 7 eos"]
    effect = tab.get_by_test_id("effect")
    expect(effect).to_have_text("Without Decoder L0 H0 it writes 4 1 9 3 7 7")
    expect(effect.locator(".differs")).to_have_count(1)
    assert tab.get_by_test_id("map-title").inner_text() == "Decoder · L0 H1"  # another head stays
    expect(tab.get_by_test_id("head-0-0")).to_have_attribute("title", re.compile("is removed"))
    tab.get_by_test_id("head-0-0").click()
    expect_done(tab)
    for part in ("outputs", "effect"):
        expect(tab.get_by_test_id(part)).to_be_hidden()


def test_a_head_that_changes_nothing_is_said_to(edit):
    tab = edit(f"{LINK}&site=encoder&layer=0&head=0&do=ablate+cross.1.3&lang=zh")
    expect(tab.get_by_test_id("effect")).to_have_text("没有 交叉 L1 H3，输出不变。")
    tab.get_by_test_id("guess").click()  # which asks for the output
    expect(tab.get_by_test_id("effect")).to_be_hidden()


def test_a_cell_is_masked_and_unmasked_by_taps(edit):
    tab = edit()
    tap(tab, 3, 1)
    expect_done(tab, "close cross.0.1 3 1")
    expect(tab.get_by_test_id("inside")).to_be_hidden()
    expect(tab.get_by_test_id("step-count")).to_contain_text("4")
    tap(tab, 3, 1)
    expect_done(tab)


def test_a_drag_sets_a_weight_and_its_chip_undoes_it(edit):
    tab = edit()
    x, y = point(tab, 3, 4)
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y - 300, steps=5)
    expect(tab.get_by_test_id("edit-weight")).to_have_text("1.00")
    tab.mouse.up()
    expect_done(tab, "row cross.0.1 3 0,0,0,0,1,0")
    weights = tab.get_by_test_id("row-weights").locator("span")
    expect(weights.nth(4)).to_have_text("1.0")
    expect(tab.get_by_test_id("reset-zoom")).to_be_hidden()
    tab.get_by_test_id("undo-row cross.0.1 3 0,0,0,0,1,0").click()
    expect_done(tab)


def test_what_cannot_be_changed_is_said(edit):
    tab = edit(f"{LINK}&site=decoder&layer=0&head=1&step=6")
    tap(tab, 0, 0)
    expect(note(tab)).to_contain_text(say("player.edit_last_cell"))
    x, y = point(tab, 0, 3)
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y + 30, steps=3)
    tab.mouse.up()
    expect(note(tab)).to_contain_text("A masked cell has no weight.")
    expect_done(tab)


def test_edit_ends_by_escape_and_then_a_click_looks_inside(edit):
    tab = edit()
    tab.keyboard.press("Escape")
    expect(tab.get_by_test_id("edit-bar")).to_be_hidden()
    tap(tab, 3, 1)
    expect(tab.get_by_test_id("inside")).to_be_visible()
    tab.get_by_test_id("head-0-2").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L0 H2")
    expect_done(tab)


def test_the_head_that_matters_most_breaks_the_first_text(edit):
    tab = edit()
    tab.get_by_test_id("try-head").click()
    expect_done(tab, "ablate decoder.0.0")
    effect = tab.get_by_test_id("effect")
    expect(effect).to_have_text("Without Decoder L0 H0 it writes 4 1 9 3 7 7")
    assert tab.get_by_test_id("map-title").inner_text().startswith("Cross")  # where it was
    tab.get_by_test_id("undo-all").click()
    expect_done(tab)


def test_parts_are_left_out_by_one_press_and_another_puts_them_back(edit):
    tab = edit()
    tab.get_by_test_id("try-mask").click()
    expect_done(tab, "omit mask")
    expect(tab.get_by_test_id("map-title")).to_have_text("Decoder · L0 H1")
    expect(tab.get_by_test_id("same-output")).to_contain_text("It stays the same because")
    tab.get_by_test_id("try-positions").click()
    expect_done(tab, "omit mask", "omit positions")
    expect(tab.get_by_test_id("same-output")).to_be_empty()
    tab.get_by_test_id("try-mask").click()
    expect_done(tab, "omit positions")
    expect(tab.locator(".outputs .differs").first).to_be_visible()


def test_tokens_are_drawn_with_another_seed_at_each_press(edit):
    tab = edit()
    temperature = tab.get_by_test_id("draw-temperature")
    temperature.select_option("1.5")
    tab.get_by_test_id("try-draw").click()
    expect_done(tab, "draw 1.5 2")
    expect(tab.get_by_test_id("undo-draw 1.5 2")).to_be_visible()
    expect(tab.get_by_test_id("changes")).to_contain_text("drawn at temperature 1.5, seed 2")
    tab.get_by_test_id("try-draw").click()
    expect_done(tab, "draw 1.5 3")
    temperature.select_option("0.8")
    expect_done(tab, "draw 0.8 3")
    expect(tab.get_by_test_id("guess")).to_have_attribute("aria-disabled", "true")
    tab.get_by_test_id("undo-draw 0.8 3").click()
    expect_done(tab)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_tokens_are_drawn_of_the_most_probable_ones_alone(edit, size):
    tab = edit(width=size[0], height=size[1])
    k, p = (tab.get_by_role("spinbutton", name=f"top-{name}") for name in "kp")
    k.fill("1")
    k.press("Tab")
    expect_done(tab)  # nothing is drawn yet
    tab.get_by_test_id("try-draw").click()
    expect_done(tab, "draw 0.8 2 k=1")
    assert len(set(outputs(tab))) == 1  # the most probable token at each step
    p.fill("1.5")
    p.press("Enter")
    expect(note(tab)).to_contain_text("top-k is a whole number from 1 to 9999, top-p")
    expect_done(tab, "draw 0.8 2 k=1")
    p.fill("0.9")
    p.press("Enter")
    expect_done(tab, "draw 0.8 2 k=1 p=0.9")
    k.fill("")
    k.press("Enter")
    expect_done(tab, "draw 0.8 2 p=0.9")
    tab.get_by_test_id("try-draw").click()
    expect_done(tab, "draw 0.8 3 p=0.9")
    bar, box = tab.get_by_test_id("edit-bar").bounding_box(), p.bounding_box()
    assert box["x"] + box["width"] <= bar["x"] + bar["width"]
    assert box["height"] >= (40 if size[0] < 500 else 20)


def test_simple_shows_a_restriction_only_where_a_link_has_one(address, new_visitor):
    tab = new_visitor(offered=False)
    tab.goto(f"{address}{CROSS}&do=draw+0.8+7+k%3D3")
    tab.get_by_test_id("edit").click()
    expect(tab.get_by_test_id("draw-k")).to_have_value("3")
    expect(tab.get_by_test_id("draw-k")).to_be_visible()
    expect(tab.get_by_test_id("draw-p")).to_be_hidden()


def test_heads_are_struck_by_keys_and_arrows_only_move(edit):
    tab = edit(f"{LINK}&site=decoder&layer=0&head=1&step=6")
    tab.get_by_test_id("head-0-1").focus()
    tab.keyboard.press("ArrowUp")
    expect(tab.get_by_test_id("head-0-0")).to_be_focused()
    expect_done(tab)
    tab.keyboard.press("Enter")
    expect_done(tab, "ablate decoder.0.0")


def test_edit_and_inside_are_one_stop_of_the_tab_key(edit):
    tab = edit()
    tab.get_by_test_id("inside-open").focus()
    tab.keyboard.press("ArrowUp")
    expect(tab.get_by_test_id("edit")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.get_by_test_id("edit-bar")).to_be_hidden()


@pytest.mark.skipif(ENGINE != "chromium", reason="other browsers are sent no fingers")
def test_a_finger_drags_a_weight_and_the_page_stays(edit):
    tab = edit()
    x, y = point(tab, 3, 4)
    session = tab.context.new_cdp_session(tab)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    touch = {"x": x, "y": y}
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [touch]})
    for up in (20, 60, 200):
        moved = [{"x": x, "y": y - up}]
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": moved})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect_done(tab, "row cross.0.1 3 0,0,0,0,1,0")


def test_guessing_ends_edit_and_still_says_what_is_changed(edit):
    tab = edit()
    tab.get_by_test_id("head-1-3").click()
    expect(tab.get_by_test_id("outputs")).to_be_visible()
    tab.get_by_test_id("guess").click()
    for part in ("edit-bar", "edit", "outputs", "undo-all"):
        expect(tab.get_by_test_id(part)).to_be_hidden()
    expect(tab.get_by_test_id("changes")).to_contain_text("L1 H3")
