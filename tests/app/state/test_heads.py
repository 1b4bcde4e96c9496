"""What is remembered of the Heads page."""

from dataclasses import replace

import pytest
import streamlit as st

from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.state.heads import Draft, InterventionDraftError
from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions, Verb
from explorer.core.look import SECTIONS, Look, Request, Selection
from explorer.core.section_questions import CellQuestion
from explorer.core.sites import Head


@pytest.fixture(autouse=True)
def visit(monkeypatch) -> None:
    """A session that has just opened a model."""
    monkeypatch.setattr(st, "session_state", {})
    session.save(Look(Request("reverse", "1 2", 2)))


@pytest.mark.parametrize(
    ("draft", "line"),
    [
        (Draft(Verb.ABLATE, "cross", 1, 2), "ablate cross.1.2"),
        (Draft(Verb.ABLATE, "cross", 1, 2, "mean"), "ablate cross.1.2 mean"),
        (Draft(Verb.ABLATE, "cross", 1, -1), "ablate cross.1.*"),
        (Draft(Verb.KEEP, "cross", 1, 2, query=3), "keep cross.1.2"),
        (Draft(Verb.MASK, "decoder", 0, 1, query=3, key=0), "close decoder.0.1 3 0"),
        (Draft(Verb.UNMASK, "decoder", -1, -1, query=1, key=4), "open decoder.*.* 1 4"),
        (Draft(Verb.ROW, "cross", 0, 1, query=3), "row cross.0.1 3 0.5,0,0.5"),
    ],
)
def test_a_draft_makes_one_intervention(draft, line):
    assert str(draft.intervention("0.5, 0 0.5")) == line


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ("", InterventionDraftError),
        ("abc", InterventionDraftError),
        ("0.5 nan", InterventionError),
        ("0, -1", InterventionError),
    ],
)
def test_malformed_weights_of_a_row_are_refused(weights, error):
    with pytest.raises(error):
        Draft(Verb.ROW, "cross", 0, 1, query=3).intervention(weights)


def test_a_draft_is_added_to_what_is_in_force_and_not_twice():
    visit_state.set_interventions(Interventions.parse(["keep cross.1.1"]))
    heads_state.fill_in(verb=Verb.KEEP, site="cross", layer=1, head=0)
    assert heads_state.with_draft(keys=6).texts() == ("keep cross.1.1", "keep cross.1.0")
    heads_state.fill_in(head=1)
    assert heads_state.with_draft(keys=6) == visit_state.current().request.interventions


def test_more_interventions_than_allowed_are_refused():
    lines = [f"close decoder.0.0 {query} 0" for query in range(1, 25)]
    visit_state.set_interventions(Interventions.parse(lines))
    heads_state.fill_in(verb=Verb.KEEP, site="cross", layer=1, head=0)
    with pytest.raises(InterventionDraftError, match="At most 24"):
        heads_state.with_draft(keys=6)


def test_a_clicked_cell_and_another_head_are_filled_in():
    heads_state.read_view(
        {
            "selection": {"site": "cross", "layer": 1, "head": 2, "step": 1},
            "cell": {"site": "decoder", "layer": 0, "head": 1, "query": 2.0, "key": 3},
        }
    )
    assert visit_state.current().selection == Selection("cross", 1, 2, 1)
    assert heads_state.draft() == Draft(None, "decoder", 0, 1, None, 2, 3)
    heads_state.read_view({"selection": {"site": "cross", "layer": 1, "head": 2, "step": 2}})
    assert heads_state.draft().site == "decoder"  # the same head as before
    heads_state.read_view({"selection": {"site": "cross", "layer": 1, "head": 3, "step": 2}})
    assert heads_state.draft() == Draft(None, "cross", 1, 3, None, 2, 3)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1, 1.5, True, "1", None])
def test_a_malformed_cell_is_ignored(number):
    cell = {"site": "cross", "layer": 0, "head": 1, "query": 2.0, "key": number}
    heads_state.read_view({"cell": cell})
    assert heads_state.draft() == Draft()


def test_with_interventions_the_draft_does_not_follow_the_app():
    heads_state.draft_head(Head("cross", 1, 7))
    assert (heads_state.draft().layer, heads_state.draft().head) == (1, 7)
    visit_state.set_interventions(Interventions.parse(["ablate cross.1.7"]))
    heads_state.draft_head(Head("decoder", 2, 1))
    heads_state.read_view({"selection": {"site": "decoder", "layer": 2, "head": 1, "step": 2}})
    heads_state.draft_head(None)
    assert heads_state.draft() == Draft(None, "cross", 1, 7)
    heads_state.read_view({"selection": {"site": "decoder", "layer": 2, "head": 0, "step": 2}})
    heads_state.draft_head(None)
    assert heads_state.draft() == Draft(None, "decoder", 2, 0)


def test_the_unit_of_explore_stays():
    visit_state.select(Selection(guess=True, words=True))
    heads_state.read_view({"selection": {"site": "cross", "layer": 1, "head": 2}})
    assert visit_state.current().selection == Selection("cross", 1, 2, guess=True, words=True)
    heads_state.fill_in(site="cross", layer=0, head=1)
    heads_state.show_drafted_head()
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
    visit_state.set_forced({1: 4})
    first = heads_state.requested()
    assert first == Request("reverse", "1 2", 2)
    assert heads_state.shown_request() == first
    heads_state.remember_shown(first)
    visit_state.set_text("x")
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
