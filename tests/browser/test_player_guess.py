"""Guessing what comes next, and where a head looks, before the player shows it."""

import base64
from collections.abc import Callable
from dataclasses import replace

from playwright.sync_api import Page, expect

from explorer.components.lesson.payload import ShownCard, ShownLesson, lesson_payload
from explorer.components.player.payload import View
from explorer.core.i18n import say
from explorer.core.vocabulary import shown_label
from tests.support.example_traces import example_trace
from tests.support.page_checks import settle

SOURCE = ("alpha", "beta", "gamma", "delta")  # the output is reversed
NOT_YET = ("gamma", "beta", "alpha")
PLACES = (
    "[data-testid=strip-target], .predicted-label, .query-label, [data-testid=output], "
    "[data-testid=candidates-title], [data-testid=forced]"
)


def texts(tab: Page) -> str:
    """All that names output tokens, titles included."""
    found = tab.locator(PLACES)
    titles = found.evaluate_all("all => all.map((node) => node.title)")
    return " ".join([*found.all_inner_texts(), *titles])


def test_what_comes_next_is_nowhere_until_it_is_guessed(show: Callable[..., Page]) -> None:
    for site in ("decoder", "cross"):
        tab = show(example_trace(SOURCE, padding=0), view=View(site=site))
        tab.keyboard.press("g")
        expect(tab.get_by_test_id("step-count")).to_have_text("step 1/5")
        tab.keyboard.press("ArrowRight")
        expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("delta")
        tab.keyboard.press("ArrowRight")
        settle(tab)
        strip = tab.get_by_test_id("strip-target").inner_text().split()
        assert strip == ["bos", "delta", "?"]  # not how long it is
        assert not any(token in texts(tab) for token in NOT_YET)
        expect(tab.get_by_test_id("sentence")).to_contain_text(". What comes next?")
        expect(tab.get_by_test_id("sentence")).not_to_contain_text("predicts")
        expect(tab.get_by_test_id("candidates-others")).to_be_hidden()
        values = tab.locator("[data-testid=candidates] :is(.rank, .value, .mark)")
        assert "".join(values.all_inner_texts()).strip() == ""
        assert not tab.locator("[data-testid=candidates] .chosen").count()
        tab.get_by_test_id("site-encoder").click()
        settle(tab)
        strip = tab.get_by_test_id("strip-target").inner_text().split()
        assert strip == ["bos", "delta", "·"]
        expect(tab.get_by_test_id("output")).to_have_text("delta")


def test_a_choice_does_not_tell_that_a_card_asks_its_probability(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(step=1, guess=True))
    look = {"site": None, "layer": 0, "head": 0, "step": 1}
    asks = {"question": "How much?", "choices": ("20 %", "30 %"), "answer": "probability"}
    later = ShownCard("It is probable.", right=0, look=look, here=True, **asks)
    lesson = ShownLesson("a", "A lesson", (ShownCard("It writes.", here=True), later), 0, 0)
    data = base64.b64encode(lesson_payload(lesson, "en")).decode()
    tab.evaluate("(text) => { window.closeLesson = openLesson(text); }", data)
    settle(tab)
    values = tab.locator("[data-testid=candidates] .value")
    assert "".join(values.all_inner_texts()) == ""
    tab.get_by_test_id("candidates").get_by_role("button", name="4", exact=True).click()
    chosen = tab.locator("[data-testid=candidates] .chosen")
    expect(chosen.locator(".value")).to_have_text("?")
    tab.evaluate("closeLesson()")
    expect(chosen.locator(".value")).not_to_have_text("?")


def test_a_guess_is_clicked_or_typed_and_counted(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(step=1, guess=True))
    tally, note = tab.get_by_test_id("tally"), tab.get_by_test_id("candidates-note")
    tab.get_by_test_id("candidates").get_by_role("button", name="4", exact=True).click()
    expect(tally).to_have_text("1/1 right")
    expect(note).to_have_text("✓ “4” is right.")
    expect(note).to_have_attribute("data-mark", "right")
    expect(tab.get_by_test_id("candidates-others")).to_be_visible()
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    typed = tab.get_by_test_id("typed-guess")
    typed.fill(" 7 ")
    typed.press("Enter")
    expect(tally).to_have_text("1/2 right")
    expect(note).to_have_text("✗ You guessed “7”; the model takes “1”.")
    expect(note).to_have_attribute("data-mark", "wrong")
    tab.keyboard.press("ArrowRight")  # the focus left the box
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/6")
    tab.keyboard.press("Home")
    expect(tally).to_have_text("0/0 right")
    expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
    tab.keyboard.press("g")
    expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("4")
    expect(tally).to_be_hidden()


def test_the_weights_are_guessed_first_on_the_source(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(trace, view=View(site="cross", layer=0, head=2, step=1, guess=True))
    tab.get_by_test_id("guess-weights").check()
    best = int(trace.attention("cross")[0, 2, 0].argmax())
    source = tab.locator("[data-testid=strip-source] .chip")
    printed = tab.get_by_test_id("row-weights")
    expect(printed).to_be_hidden()
    expect(tab.get_by_test_id("sentence")).to_have_text("Where does head L0 H2 look from “bos”?")
    assert not tab.locator("[data-testid=strip-source] .chip[style*=background]").count()
    source.nth(best).click()
    expect(tab.get_by_test_id("tally")).to_have_text("1/1 right")
    expect(printed).to_be_visible()
    expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("?")
    tab.keyboard.press("ArrowRight")
    expect(tab.locator("[data-testid=strip-target] .predicted")).to_have_text("4")
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    expect(printed).to_be_hidden()
    wrong = (int(trace.attention("cross")[0, 2, 1].argmax()) + 1) % 5
    source.nth(wrong).click()
    expect(tab.get_by_test_id("tally")).to_have_text("1/2 right")


def test_a_key_is_chosen_among_the_keys_that_the_row_may_attend_to(
    show: Callable[..., Page],
) -> None:
    trace = example_trace()
    for site, step in (("cross", 1), ("decoder", 3)):
        tab = show(trace, view=View(site=site, layer=0, head=1, step=step, guess=True))
        tab.get_by_test_id("guess-weights").check()
        settle(tab)
        row = trace.attention(site)[0, 1, step - 1]
        opened = trace.mask(site, 0, 1)[step - 1].nonzero()[0]
        choices = tab.locator("[data-testid=candidates] li")
        names = [name.strip() for name in choices.all_inner_texts()]
        assert names == [shown_label(trace.keys(site)[key]) for key in opened]
        query = shown_label(trace.queries(site)[step - 1])
        expect(tab.get_by_test_id("candidates-title")).to_have_text(f"Keys for the query “{query}”")
        expect(tab.get_by_test_id("candidates-note")).to_have_text(
            "Where will the head look? Choose a key, or press Next (→) to see."
        )
        expect(tab.get_by_test_id("typed-guess")).to_be_hidden()
        choices.nth(opened.tolist().index(int(row.argmax()))).click()
        expect(tab.get_by_test_id("tally")).to_have_text("1/1 right")
        expect(tab.get_by_test_id("candidates-note")).to_contain_text("has the largest weight.")
        expect(tab.get_by_test_id("candidates-title")).to_contain_text("Next token")


def test_a_hidden_row_is_not_said_to_be_not_yet_decoded(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(site="cross", step=6, guess=True))
    cover = tab.get_by_test_id("not-yet")
    expect(cover).to_be_hidden()
    tab.get_by_test_id("guess-weights").check()
    expect(cover).to_be_visible()
    assert cover.get_attribute("title") == "hidden until it is guessed"
    expect(cover).to_have_text("hidden until it is guessed")
    tab.keyboard.press("Home")
    tab.get_by_test_id("guess-weights").uncheck()
    expect(cover).to_have_text("not yet decoded")


def test_guessing_is_reported_for_the_address_at_once(show: Callable[..., Page]) -> None:
    """Without a rest: the next text, which may follow at once, opens as the last report says."""
    tab = show(example_trace(), view=View(step=2, ahead=False))
    for expected in (True, None):
        tab.get_by_test_id("guess").click()
        settle(tab)
        assert tab.evaluate("reported.at(-1).guess") is expected


def test_a_token_that_a_person_chose_is_not_given_away_nor_scored(
    show: Callable[..., Page],
) -> None:
    trace = example_trace()
    forced = trace.arrays["steps.chosen"] & (trace.arrays["steps.step"] == 1)
    trace = replace(trace, arrays={**trace.arrays, "steps.forced": forced})
    tab = show(trace, view=View(step=1, guess=True))
    settle(tab)
    assert not tab.locator(".forced.token").count()
    tab.get_by_test_id("candidates").get_by_role("button", name="4", exact=True).click()
    expect(tab.get_by_test_id("tally")).to_have_text("0/0 right")
    expect(tab.get_by_test_id("candidates-note")).to_have_text(
        say("player.guess_forced", token="4")
    )
    expect(tab.locator(".predicted-label.forced")).to_have_text("→ 4")


def test_all_candidates_are_listed_while_they_are_guessed(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(step=1, guess=True, cell=(0, 0)), size=(1024, 600))
    listed = tab.locator("[data-testid=candidates] li")
    assert listed.count() == tab.locator("[data-testid=candidates] li:not([hidden])").count()


def test_what_was_shown_ahead_is_shown_again_after_guessing(show: Callable[..., Page]) -> None:
    for ahead in (True, False):
        tab = show(example_trace(), view=View(step=2, ahead=ahead))
        guess, box = tab.get_by_test_id("guess"), tab.get_by_test_id("ahead")
        guess.click()
        expect(box).to_be_hidden()
        tab.keyboard.press("ArrowRight")
        guess.click()
        expect(box).to_be_checked(checked=ahead)
