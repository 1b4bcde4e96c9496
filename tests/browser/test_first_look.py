"""What Explore shows a person who has pressed nothing yet, and what is one press away."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.first_paint import FirstPaint, first_paint
from tests.support.page_checks import settle

MOST_STOPS = 20
MOST_WORDS = 120

LINK = "?model=reverse&text=7+3+9+1+4&step=3"


@pytest.fixture
def visit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    """Open Explore and wait for its picture."""

    def open_tab(query: str = "", width: int = 1440, height: int = 900) -> Page:
        tab = new_tab(width, height)
        tab.goto(address + query)
        tab.wait_for_selector(".plotted")
        return tab

    return open_tab


@pytest.fixture
def simple(address: str, new_visitor: Callable[..., Page]) -> Callable[..., Page]:
    """The same for somebody who has chosen nothing yet."""

    def open_tab(query: str = "", width: int = 1440, height: int = 900) -> Page:
        tab = new_visitor(width, height, offered=False)
        tab.goto(address + query)
        tab.wait_for_selector(".plotted")
        return tab

    return open_tab


def hidden_at_first(tab: Page) -> list[Locator]:
    """What Everything shows."""
    names = ("alignment-prediction", "shown", "scale", "mean-0", "candidates-heads", "projector")
    return [
        *(tab.get_by_test_id(name) for name in (*names, "first", "last", "save")),
        *(tab.get_by_test_id(name) for name in ("integrity", "copy-output")),
        *(tab.locator(name) for name in (".counting", ".keys")),
        tab.locator(".thumbnail .score").first,
        tab.get_by_role("combobox", name="Pad"),
        tab.get_by_role("combobox", name="Examples"),
        *(tab.get_by_role("button", name=name) for name in ("Files", "Share")),
    ]


def chips(tab: Page) -> Locator:
    return tab.get_by_test_id("strip-source").locator(".chip")


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_first_visitor_meets_few_controls_and_words(new_visitor, address, language, size):
    tab = new_visitor(*size, offered=False)
    tab.goto(f"{address}?lang={language}")
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("lesson-start")).to_be_visible()
    expect(tab.get_by_test_id("everything")).to_be_visible()
    found = first_paint(tab)
    assert len(found.stops) <= MOST_STOPS, found.stops
    assert len(found.prose) <= MOST_WORDS, found.prose
    assert len([name for name in found.controls if name.startswith("head-")]) == 8  # it counts


@pytest.mark.parametrize(("page", "most"), [("heads", 58), ("train", 56)])
def test_the_other_pages_keep_their_number_of_controls(address, new_tab, page, most):
    tab = new_tab()
    tab.goto(address + page)
    tab.wait_for_selector(".plotted")
    assert most - 12 <= len(first_paint(tab).controls) <= most


def test_what_is_counted(new_tab):
    tab = new_tab(400, 300)
    tab.set_content(
        "<button>one two</button><button disabled>3</button><button hidden>no</button>"
        "<select><option>four</option><option>no</option></select><p>· five-six →</p>"
        "<input value='seven'><input type=checkbox><p style='visibility: hidden'>no</p>"
        "<a href='#'>8</a><a>nine</a><div role=radio>ten</div>"
        "<p style='position: absolute; top: 400px'>no <button>no</button></p>"
        "<div id=host></div>"
    )
    tab.evaluate(
        "() => { document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML ="
        " '<button>eleven</button>'; }"
    )
    words = ["one", "two", "3", "four", "five-six", "seven", "8", "nine", "ten", "eleven"]
    found = first_paint(tab)
    assert isinstance(found, FirstPaint)
    assert sorted(found.words) == sorted(words)
    assert len(found.controls) == 8


def test_one_press_shows_the_rest_and_another_hides_it(simple):
    tab = simple(LINK)
    expect(chips(tab)).to_have_count(6)  # no padding
    for part in hidden_at_first(tab):
        expect(part).to_be_hidden()
    switch = tab.get_by_test_id("everything")
    expect(switch).to_have_accessible_name("Show everything")
    for shown, name in ((True, "Show less"), (False, "Show everything")):
        switch.click()
        expect(switch).to_have_accessible_name(name)
        for part in hidden_at_first(tab):
            expect(part).to_be_visible(visible=shown)


def test_what_is_shown_ahead_can_be_hidden_again(simple):
    ahead = simple(LINK).get_by_test_id("ahead")
    ahead.check()
    expect(ahead).to_be_checked()
    ahead.uncheck()
    expect(ahead).not_to_be_checked()


def test_everything_is_remembered_and_in_the_address(simple, address):
    tab = simple()
    tab.get_by_test_id("everything").click()
    expect(tab).to_have_url(re.compile("everything=1"))
    link = tab.url
    tab.goto(f"{address}heads")
    expect(tab.get_by_test_id("everything")).to_have_accessible_name("Show less")
    tab.goto(address)
    expect(tab.get_by_test_id("copy-output")).to_be_visible()
    tab.get_by_test_id("everything").click()
    expect(tab.get_by_test_id("copy-output")).to_be_hidden()
    tab.goto(address)
    expect(tab.get_by_test_id("copy-output")).to_be_hidden()
    other = simple()
    other.goto(link)
    expect(other.get_by_test_id("copy-output")).to_be_visible()
    other.goto(f"{address}heads?part=compare&everything=1")
    expect(other.get_by_test_id("everything")).to_have_accessible_name("Show less")
    other.goto(address)  # what a link has shown, nobody has chosen
    expect(other.get_by_test_id("copy-output")).to_be_hidden()


@pytest.fixture
def first(new_visitor, address) -> Callable[..., Page]:
    """The first visit of a person."""

    def open_tab(width: int = 1440, height: int = 900, language: str = "en") -> Page:
        tab = new_visitor(width, height, offered=False)
        tab.emulate_media(reduced_motion="no-preference")
        tab.goto(f"{address}?lang={language}")
        return tab

    return open_tab


def test_the_first_visit_plays_until_the_model_hesitates_and_asks(first, address):
    tab = first()
    step, play = tab.get_by_test_id("step-count"), tab.get_by_test_id("play")
    question = tab.get_by_test_id("first-question")
    expect(question).to_be_visible()
    expect(step).to_have_text("step 3/7")
    expect(play).to_have_accessible_name("Play")
    expect(tab.locator(".predicted")).to_have_text("?")
    for name in ("sentence", "candidates", "tally"):
        expect(tab.get_by_test_id(name)).to_be_hidden()
    assert question.get_by_role("button").all_inner_texts() == ["1", "7"]
    question.get_by_role("button", name="1").click()
    expect(question).to_contain_text("You chose “1”. It writes “7” (73.5 %)")
    expect(question).to_contain_text("0.67 at “7” and 0.32 at “1”")
    expect(tab.locator(".predicted")).to_have_text("7")
    expect(tab.get_by_test_id("candidates")).to_be_visible()
    tab.get_by_test_id("next").click()
    expect(question).to_be_hidden()
    expect(tab.get_by_test_id("sentence")).to_be_visible()
    tab.goto(address)  # it asks once
    expect(step).to_have_text("step 3/7")
    expect(play).to_have_accessible_name("Play")
    expect(question).to_be_hidden()


@pytest.mark.parametrize("way", ["next", "previous", "guess"])
def test_the_question_of_the_first_visit_can_be_left(first, way):
    tab = first()
    question = tab.get_by_test_id("first-question")
    expect(question).to_be_visible()
    assert "guess" not in tab.url  # a reload does not ask for guesses
    tab.get_by_test_id(way).click()
    expect(question).to_be_hidden()
    expect(tab.get_by_test_id("guess")).to_have_attribute("aria-pressed", "false")
    expect(tab.locator(".predicted")).not_to_have_text("?")
    expect(tab.get_by_test_id("sentence")).to_be_visible()


def test_a_phone_asks_above_the_fold(first):
    tab = first(390, 844, "zh")
    question = tab.get_by_test_id("first-question")
    for button in question.get_by_role("button").all():
        expect(button).to_be_in_viewport(ratio=1)
    question.get_by_role("button").first.click()
    expect(question.get_by_role("status")).to_be_in_viewport(ratio=1)


def test_what_a_link_shows_is_not_played(new_visitor, address):
    tab = new_visitor(offered=False)
    tab.emulate_media(reduced_motion="no-preference")
    tab.goto(address + LINK)
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/6")
    tab.wait_for_timeout(1500)
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/6")


def test_a_lesson_is_simple_and_what_it_speaks_of_is_shown(visit):
    tab = visit("?lesson=query-and-key&card=1")
    expect(tab.get_by_test_id("lesson-text")).to_be_visible()
    for name in ("copy-output", "first", "everything"):
        expect(tab.get_by_test_id(name)).to_be_hidden()
    tab.get_by_test_id("lesson-leave").click()
    for name in ("copy-output", "first", "everything"):
        expect(tab.get_by_test_id(name)).to_be_visible()


def test_a_link_to_padding_keeps_it_and_shows_its_control(simple):
    tab = simple(f"{LINK}&pad=2")
    expect(chips(tab)).to_have_count(8)
    expect(tab.get_by_role("combobox", name="Pad")).to_have_value("2")
    expect(tab.get_by_test_id("alignment-off")).to_be_hidden()


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ("&site=cross&layer=1&head=2&alignment=prediction", "alignment-prediction"),
        ("&site=cross&layer=1", "mean-1"),
        ("&site=cross&layer=1&head=2&next=heads", "candidates-heads"),
    ],
)
def test_a_link_shows_what_it_showed_and_how_to_leave_it(simple, query, chosen):
    tab = simple(LINK + query)
    expect(tab.get_by_test_id(chosen)).to_be_visible()
    on = re.compile(r'aria-(checked|pressed)="true"')
    assert on.search(tab.get_by_test_id(chosen).evaluate("(part) => part.outerHTML"))


def test_a_link_to_contributions_names_them(simple):
    tab = simple(f"{LINK}&site=cross&layer=1&head=2&shows=alti")
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · all heads of L1")
    expect(tab.get_by_test_id("shown")).to_have_value("alti")
    tab.get_by_test_id("everything").click()
    expect(tab.get_by_test_id("shown")).to_be_visible()  # the colours are no weights


def test_simple_lists_at_most_three_candidates_and_everything_all(simple):
    tab = simple(LINK.replace("reverse", "reverse-early").replace("step=3", "step=6"))
    rows = tab.get_by_test_id("candidates").locator("li:visible")
    expect(rows).to_have_count(3)
    tab = simple(LINK)  # all but one below 0.1 %
    rows = tab.get_by_test_id("candidates").locator("li:visible")
    expect(rows).to_have_count(1)
    tab.get_by_test_id("everything").click()
    expect(rows).to_have_count(10)
    expect(tab.get_by_test_id("candidates-others")).to_be_visible()


def test_the_buttons_that_step_are_one_stop_and_arrows_go_from_one_to_the_next(simple):
    tab = simple(LINK)
    names = [tab.get_by_test_id(name) for name in ("previous", "play", "next")]
    assert [name.evaluate("(button) => button.tabIndex") for name in names] == [-1, 0, -1]
    names[1].focus()
    tab.keyboard.press("ArrowDown")
    expect(names[2]).to_be_focused()
    assert [name.evaluate("(button) => button.tabIndex") for name in names] == [-1, -1, 0]
    tab.keyboard.press("Enter")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 4/6")
    for _ in range(2):
        tab.keyboard.press("ArrowUp")
    expect(names[0]).to_be_focused()
    tab.keyboard.press("ArrowUp")  # First is not shown here
    expect(names[0]).to_be_focused()


def test_the_header_says_what_the_model_does_and_names_it_once(visit):
    tab = visit()
    hint = tab.get_by_test_id("text-hint")
    expect(hint).to_have_text(
        "It has almost learned to reverse: 9 of 10 are right. "
        "Here it hesitates between “7” and “1”."
    )
    assert sum("reverse-almost" in word for word in first_paint(tab).words) == 1


def test_a_bare_address_opens_in_the_language_that_was_chosen(address, new_visitor):
    tab = new_visitor()
    tab.goto(f"{address}?lang=zh")  # the link of somebody else
    expect(tab.get_by_role("button", name="上一步")).to_be_visible()
    tab.goto(address)
    expect(tab.get_by_role("button", name="Previous")).to_be_visible()
    tab.get_by_text("简体中文").click()
    expect(tab.get_by_role("button", name="上一步")).to_be_visible()
    tab.goto(address)
    expect(tab.get_by_role("button", name="上一步")).to_be_visible()
    tab.goto(f"{address}train?lang=en")
    expect(tab.get_by_role("button", name="Start")).to_be_visible()


TRANSLATED = (
    "The man who lives next door to us has bought a new car and the woman who lives in the old"
    " house has sold a red chair to the black cat that is sleeping on it today."
)


@pytest.mark.parametrize(
    ("query", "least"),
    [
        ("?model=reverse&text=1+2+3+4+5+6+7+8+9+a+b", 0.45 * 768),
        (f"?model=english-french&text={TRANSLATED.replace(' ', '+')}", 300),
    ],
)
def test_the_map_is_large_on_a_projector(simple, query, least):
    tab = simple(query, 1024, 768)
    tab.get_by_test_id("lesson-dismiss").click()
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("output")).to_be_hidden()
    settle(tab)
    assert tab.locator("canvas.base").first.bounding_box()["height"] >= least


def test_there_is_one_switch_also_after_the_theme_has_changed(visit):
    tab = visit(LINK)
    switch = tab.get_by_test_id("everything")
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_timeout(1000)  # in which Streamlit calls its components again
        expect(switch).to_have_count(1)
    switch.click()
    expect(tab.get_by_test_id("copy-output")).to_be_hidden()  # it had been on


def test_the_links_of_the_pages_show_the_focus_and_each_stop_is_a_control(simple):
    tab = simple(LINK)
    links = tab.get_by_test_id("stTopNavLink")
    tab.get_by_test_id("stMain").and_(tab.locator('[tabindex="-1"]')).wait_for()
    links.first.focus()
    for number in range(links.count()):
        expect(links.nth(number)).to_be_focused()
        expect(links.nth(number)).to_have_css("outline-style", "solid")
        tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('header, .stMain') !== null")
    assert tab.evaluate("document.activeElement.tagName") != "MAIN"


def test_no_rank_stands_beside_a_digit_before_everything_is_shown(simple):
    tab = simple(LINK)
    ranks = tab.locator(".candidate:not(.others) .rank")
    expect(ranks.first).to_have_text("")
    tab.get_by_test_id("everything").click()
    expect(ranks.first).to_have_text("1")


def test_at_200_percent_three_rows_of_the_map_are_seen(simple):
    tab = simple("", 683, 384)  # 1366 × 768
    labels, bar = tab.locator(".query-label"), tab.locator(".transport").first.bounding_box()
    third = labels.nth(2).bounding_box()
    assert third["y"] + third["height"] <= bar["y"]
    for name in ("Explore", "Heads", "Train"):
        expect(tab.get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)


def test_what_research_asks_of_a_calculation_is_not_in_simple(simple):
    tab = simple(f"{LINK}&cell=2.2")
    score, switch = tab.get_by_test_id("inside_part-score"), tab.get_by_test_id("everything")
    expect(tab.get_by_test_id("inside-sum")).to_be_visible()
    expect(score).to_be_hidden()
    tab.get_by_test_id("inside_part-before").click()
    costs = tab.locator(".cost").first
    expect(costs).to_be_attached()
    expect(costs).to_be_hidden()
    switch.click()
    expect(costs).to_be_visible()
    expect(score).to_be_visible()
    score.click()
    switch.click()
    expect(score).to_be_visible()  # what is shown keeps its name
