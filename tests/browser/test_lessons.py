"""Lessons in the app: every card to the end, with what it speaks of in view."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.app.filled_lesson import filled_in, whole_lesson
from explorer.core import folders
from explorer.core.i18n import OWN_LANGUAGES
from explorer.core.lesson import (
    LONGEST_FIELDS,
    LONGEST_TEXT,
    LONGEST_TITLE,
    Card,
    Lesson,
    find_lessons,
    lesson_files,
    read_lesson,
)
from explorer.model.catalog import shipped_models
from tests.support.app_server import running_app
from tests.support.page_checks import settle
from tests.support.sample import sampled

SHIPPED = find_lessons(lesson_files([folders.SHIPPED_LESSONS]))
SIZES = [(1440, 900), (1366, 630), (1024, 768), (390, 844)]
CASES = [
    (name, language, size)
    for name in SHIPPED.lessons
    for language, size in zip(("en", "zh") * 2, SIZES, strict=True)
]
BOTH = [(name, language) for name in SHIPPED.lessons for language in ("en", "zh")]
EXPORTED = [case for case in BOTH if not SHIPPED.lessons[case[0]][case[1]].in_train]
FIRST = SHIPPED.in_language("query-and-key", "en")


@pytest.fixture
def open_lesson(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    def show(query: str, width: int = 1440, height: int = 900) -> Page:
        tab = new_tab(width, height)
        tab.goto(f"{address}?{query}")
        expect(tab.get_by_test_id("lesson")).to_be_visible()
        return tab

    return show


def expect_in_view(tab: Page, highlighted: Locator) -> None:
    """Between the card and the lower edge of the window, or more than a quarter of the window; it
    is scrolled to a few frames after the card."""
    expect(highlighted).to_be_visible()
    expect(highlighted).to_be_in_viewport()
    deadline = time.monotonic() + 10
    while not in_view(tab, highlighted):
        assert time.monotonic() < deadline
        tab.wait_for_timeout(50)


def in_view(tab: Page, highlighted: Locator) -> bool:
    card, box = tab.get_by_test_id("lesson").bounding_box(), highlighted.bounding_box()
    size = tab.viewport_size
    if card is None or box is None or size is None:
        return False
    top = max(box["y"], card["y"] + card["height"])
    bottom = min(box["y"] + box["height"], size["height"])
    return bottom - top >= min(box["height"] - 2, size["height"] / 4)


def answer(tab: Page, card: Card) -> None:
    """Choose until it is right."""
    choices = tab.get_by_test_id("lesson-choices").get_by_role("button")
    expect(choices).to_have_count(len(card.choices))
    for choice in choices.all():
        choice.click()
        expect(choice).to_have_attribute("data-mark", re.compile("right|wrong"))
        mark = tab.get_by_test_id("lesson-answer").get_attribute("data-mark")
        assert choice.get_attribute("data-mark") == mark
        if mark == "right":
            return
    raise AssertionError("no choice is right")


FRAME = """(node, name) => {
  const style = getComputedStyle(node), box = node.getBoundingClientRect();
  const inner = parseFloat(style.outlineOffset), outer = inner + parseFloat(style.outlineWidth);
  const range = document.createRange();
  const isApart = (part) => {
    if (part.firstChild) range.selectNodeContents(part);
    const { left, right, top, bottom } = (part.firstChild ? range : part).getBoundingClientRect();
    return (left >= box.left - inner && right <= box.right + inner
      && top >= box.top - inner && bottom <= box.bottom + inner)
      || right <= box.left - outer || left >= box.right + outer
      || bottom <= box.top - outer || top >= box.bottom + outer;
  };
  return [...node.getRootNode().querySelectorAll(name)].every(isApart);
}"""
"""Whether the frame of a highlighted part lies on none of the named elements."""


@pytest.mark.parametrize("size", [(1366, 768), (1024, 768)])
@pytest.mark.parametrize("language", OWN_LANGUAGES)
def test_the_frame_of_a_card_lies_on_no_colour_bar_and_no_name_of_a_layer(
    open_lesson, language, size
):
    for card, name in (("the-mask&card=3", ".ramp"), ("importance&card=6", ".layer-name")):
        tab = open_lesson(f"lang={language}&lesson={card}", *size)
        expect(tab.locator(".plotted")).to_be_attached()
        highlighted = tab.locator("[data-highlighted]")
        expect(highlighted).to_have_count(1)
        settle(tab)
        assert tab.locator(name).count() > 0
        assert highlighted.evaluate(FRAME, name)


@pytest.mark.parametrize(("name", "language", "size"), sampled(CASES, 3))
def test_every_card_shows_what_it_speaks_of(open_lesson, name, language, size):
    cards = SHIPPED.lessons[name][language].cards
    tab = open_lesson(f"lang={language}&lesson={name}", *size)
    for number, card in enumerate(cards, start=1):
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(f"{number}/{len(cards)}")
        expect(tab.locator(".plotted")).to_be_attached()
        expect(tab.get_by_test_id("lesson-text")).not_to_have_class(re.compile("problem"))
        highlighted = tab.locator("[data-highlighted]")
        expect(highlighted).to_have_attribute("data-testid", card.highlight)
        expect_in_view(tab, highlighted)
        box = tab.get_by_test_id("lesson").bounding_box()
        assert box is not None
        assert box["height"] <= 0.3 * size[1]
        assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        if card.question:
            answer(tab, card)
            expect_in_view(tab, highlighted)  # the card is higher now
        tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-end")).to_be_visible()
    box = tab.get_by_test_id("lesson").bounding_box()
    assert box is not None
    assert box["height"] <= 0.3 * size[1]
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_what_a_card_speaks_of_is_in_view_however_late_it_arrives(open_lesson):
    tab = open_lesson("lang=en&lesson=query-and-key", 390, 844)
    tab.route("**/without/**", lambda route: (time.sleep(2.5), route.continue_()))
    tab.goto(tab.url.split("?")[0] + "?lang=en&lesson=positions&card=3")
    expect(tab.get_by_test_id("without-outputs")).not_to_be_empty()
    expect_in_view(tab, tab.locator("[data-highlighted]"))


PHONE_CARDS = [("query-and-key", 6), ("one-number-by-hand", 5), ("padding", 6), ("alignment", 5)]


@pytest.mark.parametrize(("name", "card"), PHONE_CARDS)
def test_on_a_phone_what_a_card_speaks_of_is_above_the_steps(open_lesson, name, card):
    tab = open_lesson(f"lang=en&lesson={name}&card={card}", 390, 844)
    highlighted = tab.locator(".inside-step:has([data-highlighted]), [data-highlighted]").first
    expect(highlighted).to_be_visible()
    deadline = time.monotonic() + 10
    while True:
        box, bar = highlighted.bounding_box(), tab.locator(".transport").bounding_box()
        assert box is not None
        assert bar is not None
        if in_view(tab, highlighted) and box["y"] + box["height"] <= bar["y"]:
            break
        assert time.monotonic() < deadline
        tab.wait_for_timeout(50)
    assert (bar["x"], bar["width"]) == (0, 390)


def test_nothing_stands_over_the_card_on_a_phone(open_lesson):
    tab = open_lesson("lang=en&lesson=query-and-key&card=3", 390, 844)
    card = tab.get_by_test_id("lesson")
    expect(card).to_be_visible()
    expect_in_view(tab, tab.locator("[data-highlighted]"))
    assert card.evaluate("""(card) => {
      const {left, right, top, bottom} = card.getBoundingClientRect();
      const host = card.getRootNode().host;
      const points = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((x) => [0.05, 0.15, 0.3, 0.6, 0.9].map(
        (y) => [left + x * (right - left), top + y * (bottom - top)]));
      return points.every(([x, y]) => document.elementFromPoint(x, y) === host);
    }""")


@pytest.mark.parametrize("name", ["query-and-key", "alignment"])
def test_no_sentence_gives_the_answer_before_the_question_is_answered(open_lesson, name):
    """The sentence comes back with the answer, and while another place is looked at."""
    tab = open_lesson(f"lang=en&lesson={name}&card=2")
    sentence = tab.get_by_test_id("sentence")
    asked = "Answer the question of the card; then this sentence says what the head looks at."
    expect(sentence).to_have_text(asked)
    tab.get_by_test_id("next").click()
    expect(sentence).to_contain_text("After reading")
    tab.get_by_test_id("lesson-again").click()
    expect(sentence).to_have_text(asked)
    tab.get_by_test_id("lesson-choices").get_by_role("button").first.click()
    expect(sentence).to_contain_text("After reading")
    tab.get_by_test_id("lesson-next").click()
    expect(sentence).to_have_text(asked)
    tab.get_by_test_id("lesson-leave").click()
    expect(sentence).to_contain_text("looks at")


SHOWN = """() => {
  const found = [];
  const walk = (root) => root.querySelectorAll("*").forEach((node) => {
    if (node.shadowRoot) walk(node.shadowRoot);
    if (node.closest("[data-testid=lesson-choices], style, script, template")) return;
    if (!node.checkVisibility({visibilityProperty: true})) return;
    const own = [...node.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data);
    found.push(own.join(" "), node.title ?? "", node.getAttribute("aria-label") ?? "");
  });
  walk(document);
  return found.filter((text) => text.trim());
}"""
"""All that is written on a page and in its hover texts, but for the choices of a card."""

OTHER_NUMBERS = re.compile(r"\[\d+\] = \S+|ln p = \S+|^\d+ .*: .* → \.00$")
"""Of components of vectors, losses, and weights that round to 0, which may be like an answer."""


def shown_answers(tab: Page, answers: list[str]) -> list[tuple[str, str]]:
    """Those of the answers that are numbers with a decimal point and are on the page, and where."""
    texts = [OTHER_NUMBERS.sub("", text) for text in tab.evaluate(SHOWN)]
    numbers = [answer.removeprefix("0") for answer in answers if "." in answer]
    return [
        (number, text)
        for number in numbers
        for text in texts
        if re.search(rf"(?<!\d)(?<!\d\.)0?{re.escape(number)}(?!\d)", text)
    ]


def go_through_without_a_spoiler(tab: Page, name: str, language: str) -> None:
    """No card shows the answer of its own question or of a later one before it is answered."""
    cards = SHIPPED.lessons[name][language].cards
    filled = [filled_in(card, shipped_models(), language) for card in cards]
    answers = ["" if one.right is None or one.deed else one.choices[one.right] for one in filled]
    for number, card in enumerate(cards):
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(f"{number + 1}/{len(cards)}")
        expect(tab.locator("[data-highlighted]")).to_be_visible()
        expect(tab.locator(".plotted")).to_be_attached()
        if "cell" in card.view:
            expect(tab.get_by_test_id("inside")).not_to_be_empty()
        settle(tab)
        assert not shown_answers(tab, answers[number:]), f"card {number + 1}"
        if card.question:
            if card.view.get("guess"):
                expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
                expect(tab.get_by_test_id("candidates")).to_be_hidden()
            if card.answer == "best head":
                expect(tab.get_by_test_id("map-title")).not_to_contain_text(answers[number])
            answer(tab, card)
            settle(tab)
            assert not shown_answers(tab, answers[number + 1 :]), f"card {number + 1}, answered"
        if number + 1 < len(cards):
            tab.get_by_test_id("lesson-next").click()


@pytest.mark.parametrize(("name", "language"), sampled(BOTH, 3))
def test_no_card_shows_an_answer_before_its_question_is_answered(open_lesson, name, language):
    tab = open_lesson(f"lang={language}&lesson={name}")
    go_through_without_a_spoiler(tab, name, language)


@pytest.mark.parametrize(("name", "language"), sampled(EXPORTED, 2))
def test_no_card_of_an_exported_lesson_shows_an_answer_early(open_html, name, language):
    lesson = SHIPPED.lessons[name][language]
    tab = open_html(whole_lesson(name, lesson, shipped_models(), language).decode())
    go_through_without_a_spoiler(tab, name, language)


def test_what_to_look_at_in_an_example_is_not_told_beside_a_card(open_lesson):
    """It names outputs that cards ask."""
    tab = open_lesson("lang=en&lesson=alignment&card=2")
    hint = tab.get_by_test_id("text-hint")
    expect(hint).to_have_text(re.compile("."))
    expect(hint).not_to_be_visible()
    tab.get_by_test_id("lesson-leave").click()
    expect(tab.get_by_test_id("lesson")).to_have_count(0)


def test_a_number_that_was_asked_is_shown_with_the_answer(open_lesson):
    tab = open_lesson("lang=en&lesson=one-number-by-hand&card=2")
    sentence = tab.get_by_test_id("inside-sentence")
    choices = tab.get_by_test_id("lesson-choices").get_by_role("button")
    product, score, weight = "q₁ · k₅ = 8.92", "÷ √32 = 1.58", "6 unmasked keys = .53"
    for known, choice in (([product], 1), ([product], 0), ([product, score], 0)):
        for told in (product, score, weight):
            if told in known:
                expect(sentence).to_contain_text(told)
            else:
                expect(sentence).not_to_contain_text(told)
        choices.nth(choice).click()
        tab.get_by_test_id("lesson-next").click()
    for told in (product, score, weight):
        expect(sentence).to_contain_text(told)


def test_a_card_and_guess_ask_one_question(open_lesson):
    """Of which token the model writes first: "4"."""
    tab = open_lesson("lang=en&lesson=query-and-key&card=1")
    predicted = tab.locator("[data-testid=strip-target] .predicted")
    choices = tab.get_by_test_id("lesson-choices").get_by_role("button")
    told, note = tab.get_by_test_id("lesson-answer"), tab.get_by_test_id("candidates-note")
    expect(predicted).to_have_text("?")
    expect(note).to_be_empty()
    for name in ("typed-guess", "guess-weights", "hint"):  # they would ask, too
        expect(tab.get_by_test_id(name)).to_be_hidden()
    expect(tab.get_by_test_id("candidates")).to_be_hidden()  # the card has the choices
    # Answered on the card, which alone judges the answer, whatever else is tried then.
    for choice, said in ((0, "✗ It is 4"), (2, "✓ Right")):
        choices.nth(choice).click()
        expect(told).to_contain_text(said)
        expect(predicted).to_have_text("4")
        expect(tab.get_by_test_id("tally")).to_be_hidden()
        expect(note).to_be_empty()
    tab.get_by_test_id("lesson-again").click()
    expect(predicted).to_have_text("?")
    expect(told).to_be_empty()
    expect(tab.locator("[data-testid=lesson-choices] [data-mark]")).to_have_count(0)
    choices.nth(0).click()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("2/6")
    expect(tab.get_by_test_id("lesson-question")).to_contain_text("orange row")
    expect(told).to_be_empty()
    tab.get_by_test_id("lesson-back").click()
    expect(told).to_contain_text("✗ It is 4")
    expect(predicted).to_have_text("4")
    expect(tab).to_have_url(re.compile(r"guess=1.*card=1"))
    tab.reload()
    expect(told).to_contain_text("✗ It is 4")
    expect(predicted).to_have_text("4")
    # In the player: by a look at it.
    tab.get_by_test_id("lesson-again").click()
    expect(predicted).to_have_text("?")
    expect(told).to_be_empty()
    tab.get_by_test_id("next").click()
    expect(predicted).to_have_text("4")
    expect(told).to_contain_text("It is 4")
    expect(note).to_be_empty()
    expect(tab.get_by_test_id("candidates")).to_be_visible()
    expect(choices.nth(2)).to_have_attribute("data-mark", "right")
    expect(tab.get_by_test_id("sentence")).to_contain_text("the model predicts “4”")


@pytest.mark.parametrize(
    ("name", "card", "telling"),
    [
        ("padding", 2, ["inside-mask", "reasons"]),
        ("the-mask", 3, ["inside-sentence", "inside-mask-note", "inside-softmax", "inside-value"]),
    ],
)
def test_the_panel_does_not_answer_what_a_card_asks_of_a_masked_cell(
    open_lesson, name, card, telling
):
    tab = open_lesson(f"lang=en&lesson={name}&card={card}")
    parts = [tab.get_by_test_id(name) for name in telling]
    expect(tab.get_by_test_id("inside-product")).to_be_visible()
    for part in (tab.get_by_test_id("inside-sentence"), *parts):
        expect(part).to_be_hidden()
    tab.get_by_test_id("lesson-choices").get_by_role("button").nth(1).click()
    expect(tab.get_by_test_id("lesson-answer")).to_contain_text("✓")
    for part in parts:
        expect(part).to_be_visible()


def test_an_answer_that_names_what_is_hidden_reveals_it(open_lesson):
    tab = open_lesson("lang=en&lesson=alignment&card=1")
    predicted = tab.locator("[data-testid=strip-target] .predicted")
    expect(predicted).to_have_text("?")
    tab.get_by_test_id("lesson-choices").get_by_role("button").first.click()
    expect(tab.get_by_test_id("lesson-answer")).to_contain_text("the next word is “chat”")
    expect(predicted).to_contain_text("chat")
    expect(tab.get_by_test_id("tally")).to_be_hidden()


def test_guess_is_left_as_it_was_before_a_lesson(open_lesson):
    tab = open_lesson("lang=en&lesson=query-and-key&card=4")
    tab.get_by_test_id("next").click()  # the token
    tab.get_by_test_id("next").click()  # the next step
    tab.get_by_test_id("candidates").get_by_role("button").first.click()
    expect(tab.get_by_test_id("tally")).to_contain_text("/1 right")
    tab.get_by_test_id("lesson-leave").click()
    expect(tab.get_by_test_id("lesson")).to_have_count(0)
    expect(tab.get_by_test_id("guess")).to_have_attribute("aria-pressed", "false")
    expect(tab.get_by_test_id("tally")).to_be_hidden()


@pytest.mark.parametrize("size", [(1366, 630), (1440, 900), (1024, 768)])
def test_the_card_is_no_smaller_than_the_picture_on_a_projector(open_lesson, size):
    tab = open_lesson("lang=en&lesson=query-and-key&card=2", *size)
    expect(tab.get_by_test_id("map-title")).to_be_visible()  # which the key is for
    tab.keyboard.press("p")
    expect(tab.locator("html")).to_have_attribute("data-projector", "")

    def type_of(name: str) -> float:
        return float(
            tab.get_by_test_id(name).evaluate("(node) => getComputedStyle(node).fontSize")[:-2]
        )

    smallest = type_of("player")
    for name in ("text", "question", "next", "progress"):
        assert type_of(f"lesson-{name}") >= smallest
    box = tab.get_by_test_id("lesson").bounding_box()
    assert box is not None
    assert box["height"] <= 0.3 * size[1]


def answer_wrongly_at_first(tab: Page, lesson: Lesson, wrong: tuple[int, ...]) -> None:
    """Go through all cards to the end. wrong: the cards, from 1, whose first answer is wrong."""
    for number, card in enumerate(lesson.cards, start=1):
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(f"{number}/{len(lesson.cards)}")
        if card.question:
            right = filled_in(card, shipped_models(), "en").right
            choices = tab.get_by_test_id("lesson-choices").get_by_role("button")
            if number in wrong:
                choices.nth(right - 1).click()  # before the first one comes the last one
                expect(tab.get_by_test_id("lesson-answer")).to_contain_text("✗")
            choices.nth(right).click()
            expect(tab.get_by_test_id("lesson-answer")).to_contain_text("✓")
        expect(tab.get_by_test_id("lesson-end")).to_be_hidden()
        tab.get_by_test_id("lesson-next").click()


def test_a_lesson_ends_with_a_summary_the_score_and_the_way_on(open_lesson):
    tab = open_lesson("lang=en&lesson=query-and-key")
    expect(tab.get_by_test_id("lesson-minutes")).to_have_text(f"{FIRST.minutes} min")
    expect(tab.get_by_test_id("lesson-title")).to_have_attribute("title", FIRST.aims)
    answer_wrongly_at_first(tab, FIRST, (2, 5))
    expect(tab.get_by_test_id("lesson-summary")).to_have_text(f"Now you can say: {FIRST.summary}")
    expect(tab.get_by_test_id("lesson-score")).to_have_text("4 of 6 right at the first try.")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("✓ finished")
    expect(tab.get_by_test_id("lesson-minutes")).to_be_hidden()
    for gone in ("text", "question"):
        expect(tab.get_by_test_id(f"lesson-{gone}")).to_be_hidden()
    expect(tab.locator("[data-highlighted]")).to_have_count(0)
    expect(tab.get_by_test_id("sentence")).to_contain_text("looks at “eos”")
    tab.get_by_test_id("lesson-back").click()  # nothing is asked anew, and the first try stays
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("6/6")
    tab.get_by_test_id("lesson-again").click()
    tab.get_by_test_id("lesson-choices").get_by_role("button").first.click()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-score")).to_have_text("4 of 6 right at the first try.")
    again = tab.get_by_test_id("lesson-again")
    expect(again).to_have_text("Again")
    again.click()
    answer_wrongly_at_first(tab, FIRST, (3,))
    expect(tab.get_by_test_id("lesson-score")).to_have_text("5 of 6 right at the first try.")
    tab.get_by_role("button", name="Lessons").click()
    listed = tab.get_by_test_id("lesson-list")
    expect(listed.get_by_role("listitem").first).to_contain_text("5/6 right")
    expect(tab.get_by_test_id("lessons-score")).to_have_text("All lessons so far: 5 of 6.")
    tab.keyboard.press("Escape")
    following = tab.get_by_test_id("lesson-next")
    expect(following).to_have_text("Next lesson")
    expect(following).to_have_attribute("title", "One number by hand")
    following.click()
    expect(tab.get_by_test_id("lesson-title")).to_have_text("One number by hand")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("1/6")


def test_a_card_sees_that_its_deed_is_done(open_lesson):
    """The head that it asks for is removed, not another one; *Show again* undoes that."""
    tab = open_lesson("lang=en&lesson=importance&card=5")
    told, todo = tab.get_by_test_id("lesson-answer"), tab.get_by_test_id("lesson-question")
    expect(todo).to_contain_text("this card sees when it is done")
    expect(tab.get_by_test_id("lesson-choices")).to_be_hidden()
    tab.get_by_test_id("edit").click()
    tab.get_by_test_id("head-1-2").click()
    expect(tab.get_by_test_id("changes")).to_contain_text("L1 H2")
    expect(told).to_be_empty()
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("5/7")
    tab.get_by_test_id("head-1-3").click()
    expect(told).to_have_text(re.compile("✓ Done: it still writes 4 1 9 3 7"))
    tab.get_by_test_id("lesson-again").click()
    expect(told).to_be_empty()
    expect(tab.get_by_test_id("changes")).to_be_hidden()
    expect(todo).to_contain_text("this card sees when it is done")


def test_an_exported_lesson_is_printed_as_questions_and_then_answers(open_html):
    lesson = SHIPPED.in_language("query-and-key", "en")
    tab = open_html(whole_lesson("query-and-key", lesson, shipped_models(), "en").decode())
    sheet = tab.get_by_test_id("sheet")
    expect(sheet).to_be_hidden()
    tab.emulate_media(media="print")
    expect(sheet).to_be_visible()
    for hidden in ("lesson", "player"):
        expect(tab.get_by_test_id(hidden)).to_be_hidden()
    tasks, answers = sheet.get_by_role("list").all()
    assert tasks.get_by_role("listitem").count() == answers.get_by_role("listitem").count() == 6
    expect(tasks.get_by_role("listitem").first).to_contain_text("☐ 7☐ 9☐ 4")
    expect(answers.get_by_role("listitem").first).to_contain_text("It is 4")
    heading = sheet.get_by_role("heading", name="Query and key: answers")
    assert heading.evaluate("(node) => getComputedStyle(node).breakBefore") == "page"


def test_the_end_of_the_last_lesson_leads_back_to_exploring(open_lesson):
    lesson = SHIPPED.in_language("importance", "en")
    tab = open_lesson(f"lang=en&lesson=importance&card={len(lesson.cards)}")
    tab.get_by_test_id("lesson-next").focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_test_id("lesson-summary")).to_contain_text(lesson.summary)
    expect(tab.get_by_test_id("lesson-score")).to_be_hidden()  # nobody has tried
    expect(tab.get_by_test_id("lesson-next")).to_be_hidden()
    leave = tab.get_by_test_id("lesson-leave")
    expect(leave).to_have_text("Back to exploring")
    expect(leave).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.get_by_test_id("lesson")).to_have_count(0)


def shown_query(tab: Page) -> dict[str, str]:
    return tab.evaluate("Object.fromEntries(new URLSearchParams(location.search))")


def test_cards_are_gone_through_without_the_server_and_a_reload_restores_one(open_lesson):
    tab = open_lesson("lang=en&lesson=query-and-key&card=2")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/6")
    tab.evaluate("""() => {
      const send = WebSocket.prototype.send;  // what is sent waits until it is let through
      window.held = [];
      WebSocket.prototype.send = function (data) { held.push(() => send.call(this, data)); };
      window.release = () => { WebSocket.prototype.send = send; for (const one of held) one(); };
    }""")
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("3/6")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    expect(tab.locator("[data-highlighted]")).to_have_attribute("data-testid", "row-weights")
    tab.evaluate("release()")
    expect(tab).to_have_url(re.compile(r"step=2.*card=3"))
    tab.reload()
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("3/6")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")


def test_one_may_explore_and_come_back_to_the_card(open_lesson):
    tab = open_lesson("lang=en&lesson=one-number-by-hand&card=2")
    expect(tab.get_by_test_id("inside-product")).to_be_visible()
    tab.get_by_test_id("next").click()
    tab.get_by_test_id("head-1-3").click()
    expect(tab.get_by_test_id("map-title")).to_contain_text("L1 H3")
    progress, highlighted = tab.get_by_test_id("lesson-progress"), tab.locator("[data-highlighted]")
    expect(progress).to_have_text("2/6 · you have moved on")
    expect(tab.locator("[data-testid=lesson] .primary")).to_have_text(["Show again"])
    expect(highlighted).to_have_count(0)
    tab.get_by_test_id("lesson-again").click()
    expect(tab.get_by_test_id("map-title")).to_contain_text("L0 H1")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/6")
    expect(progress).to_have_text("2/6")
    expect(highlighted).to_have_attribute("data-testid", "inside-product")
    tab.get_by_role("textbox", name="Source").fill("1 2 3")
    tab.get_by_role("textbox", name="Source").press("Enter")
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    expect(progress).to_have_text("2/6 · you have moved on")
    tab.get_by_test_id("lesson-again").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/6")
    expect(progress).to_have_text("2/6")
    expect(tab.get_by_test_id("inside-product")).to_be_visible()
    tab.get_by_test_id("lesson-leave").click()
    expect(tab.get_by_test_id("lesson")).to_have_count(0)
    expect(tab.locator("[data-highlighted]")).to_have_count(0)
    expect(tab).not_to_have_url(re.compile("lesson="))
    assert shown_query(tab)["cell"] == "0.4"


def test_a_card_of_another_text_closes_the_cell_of_the_one_before(open_lesson):
    tab = open_lesson("lang=en&lesson=importance&card=3")
    expect(tab.get_by_test_id("inside-value")).to_be_visible()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-progress")).to_contain_text("4/")
    expect(tab.get_by_test_id("inside")).to_be_hidden()
    tab.get_by_test_id("lesson-back").click()
    expect(tab.get_by_test_id("inside-value")).to_be_visible()


def choose_lesson(tab: Page, title: str) -> None:
    tab.get_by_role("button", name="Lessons").click()
    tab.get_by_test_id("lesson-list").get_by_role("button", name=title, exact=True).click()


def test_a_lesson_opens_from_the_navigation_row_of_any_page(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}train?lang=en")
    expect(tab.get_by_test_id("moment-count")).to_be_visible()
    choose_lesson(tab, "The mask")
    expect(tab.get_by_test_id("lesson-title")).to_have_text("The mask")
    expect(tab.get_by_test_id("map-title")).to_contain_text("Decoder")
    choose_lesson(tab, "Query and key")
    expect(tab.get_by_test_id("lesson-title")).to_have_text("Query and key")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("1/6")


def test_who_leaves_a_lesson_has_the_text_from_before_it(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}?lang=en&model=copy&text=5+1+2&pad=2&site=cross&layer=0&head=1&step=2")
    before = shown_query(tab)
    for title in ("The mask", "Query and key"):
        choose_lesson(tab, title)
        expect(tab.get_by_test_id("lesson-title")).to_have_text(title)
    tab.get_by_test_id("lesson-next").click()
    tab.get_by_test_id("lesson-leave").click()
    expect(tab.get_by_test_id("lesson")).to_have_count(0)
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("5 1 2")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    assert shown_query(tab) == before


def test_the_list_of_lessons_ticks_what_is_finished_also_on_other_pages(address, open_lesson):
    lesson = SHIPPED.in_language("the-mask", "en")
    tab = open_lesson(f"lang=en&lesson=the-mask&card={len(lesson.cards)}")
    button, tick = tab.get_by_role("button", name="Lessons"), tab.get_by_test_id("lesson-tick")
    button.click()
    expect(tab.get_by_test_id("lesson-list")).to_be_visible()
    title = tab.get_by_role("button", name=lesson.title, exact=True)
    entry = tab.get_by_role("listitem").filter(has=title)
    expect(entry).to_contain_text(f"{lesson.minutes} min")
    expect(entry.get_by_role("button")).to_have_attribute("title", lesson.aims)
    expect(tick).to_have_count(0)
    tab.keyboard.press("Escape")
    expect(tab.get_by_test_id("lesson-list")).to_be_hidden()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-end")).to_be_visible()
    button.click()
    expect(entry.get_by_role("img", name="finished")).to_be_visible()
    tab.goto(f"{address}train?lang=en")
    expect(tab.get_by_test_id("moment-count")).to_be_visible()
    button.click()
    expect(tick).to_have_count(1)
    expect(entry.get_by_role("img", name="finished")).to_be_visible()


def test_a_file_that_is_no_lesson_says_why_in_the_list(new_tab, tmp_path):
    (tmp_path / "bad.en.md").write_text("no title")
    with running_app(**{folders.LESSONS_VARIABLE: str(tmp_path)}) as address:
        tab = new_tab()
        tab.goto(f"{address}?lang=en")
        choose_lesson(tab, "bad.en.md")
        expect(tab.get_by_text("The lesson “bad.en.md” is left out")).to_be_visible()


def test_a_first_visit_is_offered_the_first_lesson_once(address, new_visitor):
    tab = new_visitor(offered=False)
    tab.goto(f"{address}?lang=en")
    expect(tab.get_by_test_id("lesson-offer")).to_be_visible()
    tab.get_by_test_id("lesson-dismiss").click()
    expect(tab.get_by_test_id("lesson-offer")).to_have_count(0)
    tab.reload()
    expect(tab.locator(".plotted")).to_be_attached()
    expect(tab.get_by_test_id("lesson-offer")).to_have_count(0)
    tab.evaluate("localStorage.clear()")
    tab.reload()
    tab.get_by_test_id("lesson-start").focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_test_id("lesson-title")).to_have_text("Query and key")
    expect(tab.get_by_test_id("lesson-next")).to_be_focused()
    expect(tab.get_by_test_id("lesson-text")).to_have_text(FIRST.cards[0].text)


def test_the_card_is_gone_through_with_the_keyboard(open_lesson):
    tab = open_lesson("lang=en&lesson=query-and-key")
    tab.get_by_test_id("lesson-next").focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("2/6")
    tab.keyboard.press("Space")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("3/6")
    expect(tab.get_by_test_id("lesson-text")).to_have_attribute("aria-live", "polite")
    expect(tab.get_by_role("region", name="Lesson: Query and key")).to_be_visible()
    tab.get_by_role("group", name="What do all weights of the row add up to?").get_by_role(
        "button", name="1.00"
    ).press("Enter")
    expect(tab.get_by_role("status").filter(has_text="✓ Right")).to_be_visible()


@pytest.mark.parametrize(("name", "language"), sampled(EXPORTED, 1))
def test_an_exported_lesson_is_gone_through_without_a_network(open_html, name, language):
    lesson = SHIPPED.lessons[name][language]
    tab = open_html(whole_lesson(name, lesson, shipped_models(), language).decode())
    for number, card in enumerate(lesson.cards, start=1):
        progress = f"{number}/{len(lesson.cards)}"
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(progress)
        expect(tab.get_by_test_id("lesson-text")).not_to_have_class(re.compile("problem"))
        highlighted = tab.locator("[data-highlighted]")
        expect(highlighted).to_have_attribute("data-testid", card.highlight)
        expect(highlighted).to_be_visible()
        expect(tab.get_by_test_id("player")).to_have_count(1)
        if card.question:
            answer(tab, card)
        tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-summary")).to_contain_text(lesson.summary)
    for name in ("next", "leave"):
        expect(tab.get_by_test_id(f"lesson-{name}")).to_be_hidden()
    tab.get_by_test_id("lesson-back").click()
    progress = f"{len(lesson.cards)}/{len(lesson.cards)}"
    expect(tab.get_by_test_id("lesson-progress")).to_have_text(progress)


FITS = """(card) => {
  const outer = card.getBoundingClientRect();
  const parts = [...card.querySelectorAll("h2, p, button, .question, .answer")];
  const wide = parts.filter((part) => {
    const { left, right, bottom } = part.getBoundingClientRect();
    return part.scrollWidth > part.clientWidth + 1 || left < outer.left || right > outer.right + 1
      || bottom > outer.bottom + 1;
  });
  const whole = document.documentElement;
  return [whole.scrollWidth > whole.clientWidth, wide.map((part) => part.textContent)];
}"""
"""Whether the page is too wide, and the parts of a card that reach out of it."""


@pytest.mark.parametrize("words", ["one head looks at a token ", "词元的点积除以维度再归一化", "x"])
def test_the_longest_parts_that_are_allowed_fit_the_card(open_html, words):
    def part(characters: int, first: str = "") -> str:
        return (first + words * characters)[:characters].strip()

    limits = LONGEST_FIELDS
    choices = ["{largest key}", *(part(limits["choices"], first) for first in "abcd")]
    text = f"""# {part(LONGEST_TITLE)}

---
view: ?model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=2&guess=1
question: {part(limits["question"])}
choices: {" | ".join(choices)}
answer: largest key
because: {part(limits["because"])}
---
{part(LONGEST_TEXT)}
"""
    page = whole_lesson("long", read_lesson(text), shipped_models(), "en").decode()
    tab = open_html(page)
    card = tab.get_by_test_id("lesson")
    assert card.evaluate(FITS) == [False, []]
    tab.get_by_test_id("lesson-choices").get_by_role("button").nth(1).click()
    expect(tab.locator(".answer")).to_contain_text("It is 1")
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        settle(tab)
        assert card.evaluate(FITS) == [False, []], (width, height)
        box = card.bounding_box()
        assert box is not None
        assert width <= 640 or box["height"] <= height / 2, (width, height, box)


def test_a_lesson_is_downloaded_while_it_is_followed(open_lesson, open_html):
    tab = open_lesson("lang=en&lesson=padding&card=2")
    tab.get_by_role("button", name="Files").click()
    with tab.expect_download() as download:
        tab.get_by_role("button", name="This lesson (HTML)").click()
    assert download.value.suggested_filename == "lesson-padding.html"
    page = open_html(download.value.path().read_text("utf-8"))
    expect(page.get_by_test_id("lesson-title")).to_have_text("Padding is not the future")
