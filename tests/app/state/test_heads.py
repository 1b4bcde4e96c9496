"""What is remembered of the Heads page."""

from dataclasses import replace

import pytest
import streamlit as st

from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core.look import SECTIONS, Look, Request, Selection
from explorer.core.section_questions import CellQuestion
from explorer.core.sites import Head


@pytest.fixture(autouse=True)
def visit(monkeypatch) -> None:
    """A session that has just opened a model."""
    monkeypatch.setattr(st, "session_state", {})
    session.save(Look(Request("reverse", "1 2", 2)))


def test_the_unit_of_explore_stays():
    visit_state.select(Selection(guess=True, words=True))
    heads_state.read_view({"selection": {"site": "cross", "layer": 1, "head": 2}})
    assert visit_state.current().selection == Selection("cross", 1, 2, guess=True, words=True)
    heads_state.show_head(Head("cross", 0, 1))
    assert visit_state.current().selection == Selection("cross", 0, 1, guess=True, words=True)


def test_a_picture_opens_where_it_opened_first():
    visit_state.select(Selection("cross", 1, 2))
    assert heads_state.initial_selection("picture") == Selection("cross", 1, 2)
    visit_state.select(Selection("cross", 0, 0))
    assert heads_state.initial_selection("picture") == Selection("cross", 1, 2)
    assert heads_state.initial_selection("another") == Selection("cross", 0, 0)


def test_the_permalink_names_every_section_but_the_first():
    visit = visit_state.current()
    assert heads_state.look() == visit
    heads_state.show_section("metrics")
    assert heads_state.look() == replace(visit, section="metrics")
    heads_state.show_section(SECTIONS[0])
    assert heads_state.look() == visit


def test_no_token_is_forced_and_the_last_good_request_stays_on_screen():
    session.save(Look(Request("reverse", "1 2", 2, forced=((1, 4),))))
    first = heads_state.requested()
    assert first == Request("reverse", "1 2", 2)
    assert heads_state.shown_request() == first
    heads_state.remember_shown(first)
    session.save(Look(replace(first, text="x")))
    assert heads_state.requested() != first
    assert heads_state.shown_request() == first


def test_the_model_compared_with_is_in_the_link_of_its_section_alone():
    visit_state.select(Selection("cross", 1, 2, other=(0, 1)))
    heads_state.compare_with("sort")
    assert heads_state.compared() == "sort"
    assert visit_state.current().selection == Selection("cross", 1, 2)  # its match, anew
    assert heads_state.look().compared == ""
    heads_state.show_section("compare")
    assert heads_state.look().compared == "sort"


def test_another_text_is_that_of_one_model():
    heads_state.show_section("compare")
    heads_state.remember_other_text("2 1", "reverse")
    heads_state.compare_with("@text")
    assert heads_state.look().other_text == heads_state.other_text() == "2 1"
    visit_state.return_to(Look(Request("sort", "1 2", 2)))
    assert heads_state.other_text() == ""


def test_the_browser_reports_the_head_beside():
    report = {"site": "cross", "layer": 1, "head": 2, "other": [0, 3]}
    heads_state.read_view({"selection": report})
    assert visit_state.current().selection.other == (0, 3)
    heads_state.read_view({"selection": report | {"other": [0, -1]}})
    assert visit_state.current().selection.other is None


def test_a_section_is_asked_what_the_visitor_chose_or_a_link_says():
    assert (heads_state.asked("search"), heads_state.asked("compare")) == (CellQuestion(), "")
    heads_state.ask("compare", "heads")
    heads_state.ask("search", CellQuestion(offset=-1))
    heads_state.show_section("search")
    assert heads_state.look().ask == "offset=-1"
    heads_state.show_section("metrics")
    assert heads_state.look().ask == ""
    heads_state.ask_word("search", "key=7")
    assert heads_state.cell_question() == CellQuestion(key="7")
    assert heads_state.asked("compare") == ""
    heads_state.ask("compare", "heads")
    heads_state.ask("compare", None)
    assert heads_state.asked("compare") == ""
