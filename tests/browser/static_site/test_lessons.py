"""Lessons and the recorded training of the static site."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.app.state.lesson import lessons
from explorer.components.live.page import LinkedLesson, LiveModel, static_site_page
from explorer.model.catalog import shipped_models
from explorer.model.checkpoint import load_checkpoint, to_bytes
from tests.support.page_checks import settle
from tests.support.static_site_page import type_source


@pytest.fixture
def with_lessons(new_visitor: Callable[..., Page], static_site_copy: Path):
    """The first page of the static site with other lessons."""

    def show(*lessons: str) -> Page:
        listed = shipped_models()["reverse"]
        model = LiveModel(listed, to_bytes(load_checkpoint(listed.path), half=True))
        nothing = {"en": "", "zh": ""}
        linked = [LinkedLesson(name, {"en": name, "zh": name}, nothing) for name in lessons]
        (static_site_copy / "index.html").write_text(static_site_page([model], linked), "utf-8")
        for name in lessons:
            text = "<!doctype html><link rel=icon href=data:,><h1>Found</h1>"
            (static_site_copy / "lessons" / f"{name}.en.html").write_text(text)
        tab = new_visitor()
        tab.goto((static_site_copy / "index.html").as_uri())
        tab.wait_for_selector(".plotted")
        return tab

    return show


def test_a_lesson_may_have_any_name(with_lessons):
    tab = with_lessons("50% #1? of 3")
    tab.get_by_test_id("lessons").locator("summary").click()
    tab.get_by_role("link", name="50%").click()
    expect(tab.get_by_role("heading", name="Found")).to_be_visible()


def test_without_lessons_there_is_no_menu_of_them(with_lessons):
    tab = with_lessons()
    expect(tab.get_by_test_id("training")).to_be_visible()
    expect(tab.get_by_test_id("lessons")).to_have_count(0)


def test_the_first_thing_that_is_offered_is_to_train_a_model(on_disk):
    tab = on_disk()
    offered = tab.locator("header.site :is(a, button, summary)").first
    expect(offered).to_have_text("Train a model here")
    offered.click()
    expect(tab.get_by_test_id("train-start")).to_be_visible()


def test_lessons_and_the_recorded_training_lead_back(on_disk):
    tab = on_disk()
    type_source(tab, "a b c")
    expect(tab.get_by_test_id("output")).to_have_text("c b a")
    tab.get_by_role("button", name="First").click()
    tab.wait_for_url("**step=1&**")
    tab.get_by_test_id("lessons").locator("summary").click()
    tab.get_by_test_id("lessons").get_by_role("link").first.click()
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("lesson")).to_be_visible()
    tab.get_by_role("link", name="Attention explorer").click()
    expect(tab.get_by_test_id("source")).to_have_value("a b c")  # what was on screen before
    expect(tab.get_by_role("slider", name="Step")).to_have_value("1")
    tab.get_by_test_id("training").click()
    expect(tab.get_by_role("heading", name="reverse: a recorded training")).to_be_visible()
    expect(tab.get_by_test_id("training-replay")).to_be_visible()
    expect(tab.get_by_test_id("moment")).to_be_visible()
    expect(tab.get_by_test_id("live")).to_be_hidden()  # a recorded training does not go on
    tab.get_by_role("slider").first.press("Home")
    tab.wait_for_url("**#**moment=**")
    tab.get_by_role("link", name="Attention explorer").click()
    expect(tab.get_by_test_id("output")).to_have_text("c")


@pytest.mark.parametrize(("fragment", "card"), [("#card=3", 3), ("#card=99", 1), ("#card=x", 1)])
def test_a_link_opens_a_card_of_a_lesson(new_visitor, static_site, fragment, card):
    tab = new_visitor()
    tab.goto(f"{(static_site / 'lessons' / 'the-mask.en.html').as_uri()}{fragment}")
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("lesson-progress")).to_have_text(re.compile(f"^{card}/"))
    if card == 3:  # its picture, too
        expect(tab.get_by_test_id("step-count")).to_have_text(re.compile("^step 3/"))
        expect(tab.get_by_test_id("map-title")).to_contain_text("L1 H0")


def test_a_lesson_somebody_was_sent_leads_to_the_static_site_in_its_language(
    new_visitor, static_site
):
    tab = new_visitor()
    tab.goto((static_site / "lessons" / "query-and-key.zh.html").as_uri())
    tab.wait_for_selector(".plotted")
    assert tab.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0
    tab.get_by_role("link", name="注意力探索器").click()
    expect(tab.get_by_test_id("go")).to_have_text("运行")
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")


def test_the_end_of_a_lesson_leads_on_and_back(on_disk, static_site):
    tab = on_disk()
    pages = sorted(path.name for path in (static_site / "lessons").glob("*.zh.html"))
    tab.goto((static_site / "lessons" / "query-and-key.zh.html").as_uri())
    following = tab.get_by_test_id("lesson-next")
    for number in range(1, 7):
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(f"{number}/6")
        expect(tab.get_by_test_id("lesson-leave")).to_be_hidden()
        following.click()
    expect(tab.get_by_test_id("lesson-end")).to_contain_text("现在你可以说")
    expect(tab.get_by_test_id("lesson-leave")).to_be_visible()
    expect(following).to_have_text("下一课")
    following.click()
    expect(tab).to_have_url(re.compile(r"/lessons/one-number-by-hand\.zh\.html$"))
    assert "one-number-by-hand.zh.html" in pages
    tab.goto(
        (static_site / "lessons" / "residual.en.html").as_uri()
    )  # the last one with these models
    cards = int(tab.get_by_test_id("lesson-progress").inner_text().split("/")[1])
    for number in range(1, cards + 1):
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(f"{number}/{cards}")
        following.click()
    expect(following).to_be_hidden()
    tab.get_by_role("button", name="Back to exploring").click()
    expect(tab).to_have_url(re.compile(r"/index\.html"))


def test_the_list_has_minutes_aims_and_a_tick_for_what_is_finished(on_disk, static_site):
    tab = on_disk()
    lesson = lessons().in_language("query-and-key", "en")
    listed = tab.get_by_test_id("lessons")
    listed.locator("summary").click()
    entry = listed.get_by_role("listitem").first
    expect(entry).to_have_text(f"{lesson.title}{lesson.minutes} min")
    expect(entry.get_by_role("link")).to_have_attribute("title", lesson.aims)
    expect(tab.get_by_test_id("lesson-tick")).to_have_count(0)
    entry.get_by_role("link").click()
    for _ in lesson.cards:
        tab.get_by_test_id("lesson-next").click()
        expect(tab.get_by_test_id("lesson-next")).to_be_enabled()
        settle(tab)
    expect(tab.get_by_test_id("lesson-end")).to_be_visible()
    tab.get_by_test_id("lesson-leave").click()
    listed.locator("summary").click()
    expect(tab.get_by_test_id("lesson-tick")).to_have_count(1)
    expect(entry.get_by_test_id("lesson-tick")).to_be_visible()


def test_a_projector_shows_the_checks_that_a_lesson_speaks_of(new_visitor, static_site):
    tab = new_visitor()
    tab.goto((static_site / "lessons" / "padding.en.html").as_uri())
    tab.wait_for_selector(".plotted")
    tab.keyboard.press("p")
    line, progress = tab.get_by_test_id("integrity-line"), tab.get_by_test_id("lesson-progress")
    expect(line).to_be_hidden()
    for number in range(2, 7):
        tab.get_by_test_id("lesson-next").click()
        expect(progress).to_have_text(f"{number}/6")
    expect(line).to_be_in_viewport(ratio=1)


def test_a_card_after_one_that_was_answered_is_open(on_disk, static_site):
    tab = on_disk()
    tab.goto((static_site / "lessons" / "what-if.en.html").as_uri())
    tab.get_by_test_id("lesson-choices").get_by_role("button", name="6").click()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("2/5")
    expect(tab.get_by_test_id("strip-target").locator(".predicted")).to_have_text("?")
    answer = tab.get_by_test_id("lesson-answer")
    expect(answer).to_be_empty()
    tab.get_by_test_id("lesson-choices").get_by_role("button", name="9").click()
    expect(answer).not_to_be_empty()
