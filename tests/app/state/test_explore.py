"""What is remembered of the Explore page."""

import pytest
import streamlit as st

from explorer.app.state import explore as explore_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.state.explore import ExploreState, Picture
from explorer.core.interventions import Interventions
from explorer.core.look import Look, Request, Selection, to_query


@pytest.fixture(autouse=True)
def visit(monkeypatch) -> None:
    """A session that has just opened the first model."""
    monkeypatch.setattr(st, "session_state", {})
    session.save(Look(Request("reverse", "1 2", 2)))


def request() -> Request:
    return visit_state.current().request


def selection() -> Selection:
    return visit_state.current().selection


def test_a_submitted_text_is_counted():
    before = session.load(ExploreState).submissions
    explore_state.submit_text("3 3")
    assert request() == Request("reverse", "3 3", 2)
    assert session.load(ExploreState).submissions > before


def test_a_forced_token_ends_what_was_forced_after_it():
    explore_state.read_player({"force": {"step": 2, "id": 4}})
    explore_state.read_player({"force": {"step": 4.0, "id": 5.0}})
    assert request().forced == ((2, 4), (4, 5))
    explore_state.read_player({"force": {"step": 1, "id": 6}})
    assert request().forced == ((1, 6),)
    assert selection().step == 1


def test_tokens_that_fill_masks_stay_when_another_is_chosen():
    explore_state.read_player({"force": {"step": 4, "id": 7, "alone": True}})
    explore_state.read_player({"force": {"step": 2, "id": 5, "alone": True}})
    assert request().forced == ((2, 5), (4, 7))
    assert selection().step == 2


def test_forced_tokens_are_undone_one_by_one_or_all():
    explore_state.read_player({"force": {"step": 2, "id": 4}})
    explore_state.read_player({"force": {"step": 4, "id": 5}})
    explore_state.read_player({"unforce": 2})
    assert request().forced == ((4, 5),)
    explore_state.read_player({"reset": True})
    assert request().forced == ()


def lines() -> tuple[str, ...]:
    return request().interventions.texts()


def test_interventions_are_added_and_undone():
    explore_state.read_player({"change": {"add": ["ablate cross.0.1", "omit mask"], "remove": []}})
    assert lines() == ("ablate cross.0.1", "omit mask")
    change = {"add": ["close cross.0.0 1 0", "omit mask"], "remove": ["ablate cross.0.1"]}
    explore_state.read_player({"change": change})
    assert lines() == ("close cross.0.0 1 0", "omit mask")
    explore_state.read_player({"force": {"step": 2, "id": 4}})
    assert lines() == ("close cross.0.0 1 0", "omit mask")
    explore_state.read_player({"reset": True})
    assert not request().is_changed


@pytest.mark.parametrize(
    ("add", "remove"),
    [
        (3, []),
        (["ablate cross.0.0"], None),
        ([3], []),
        (["ablate"], []),
        (["keep cross.0.1"], []),  # of a head that is removed
        ([f"close cross.0.0 {row} 0" for row in range(25)], []),
        (["row cross.0.0 1 " + "1," * 9_000 + "1"], []),
    ],
)
def test_interventions_that_cannot_be_changed_so_stay(add, remove):
    before = {"add": ["ablate cross.0.1"], "remove": []}
    explore_state.read_player({"change": before})
    explore_state.read_player({"change": {"add": add, "remove": remove}})
    assert lines() == ("ablate cross.0.1",)


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"force": "<script>"},
        {"force": {"step": "1", "id": 4}},
        {"force": {"step": 1.5, "id": 4}},
        {"force": {"step": True, "id": 4}},
        {"force": {"step": float("nan"), "id": float("inf")}},
        {"force": {"step": -1, "id": 4}},
        {"force": {"step": 0, "id": 4}},
        {"force": {"step": 1, "id": 10**30}},
        {"unforce": [1]},
        {"selection": "cross"},
    ],
)
def test_a_malformed_report_changes_nothing(report):
    explore_state.read_player(report)
    assert visit_state.current() == Look(Request("reverse", "1 2", 2))


def test_a_new_text_opens_at_its_last_step_with_the_selected_head():
    visit_state.select(Selection("cross", 1, 3, 2))
    first = Picture(Request("reverse", "1 2"), Selection(), "en")
    explore_state.remember_picture(first, False, 3)
    new = Request("reverse", "3 2 1")
    assert explore_state.initial_selection(first, new, "en") == Selection("cross", 1, 3, None)
    picture = Picture(new, Selection("cross", 1, 3, None), "en")
    explore_state.remember_picture(picture, False, 4)
    assert selection() == Selection("cross", 1, 3, 4)


def test_a_forced_token_and_another_language_keep_the_step():
    visit_state.select(Selection("cross", 1, 3, 2))
    old = Request("reverse", "1 2")
    picture = Picture(old, Selection(), "en")
    explore_state.remember_picture(picture, False, 3)
    forced = Request("reverse", "1 2", forced=((2, 4),))
    assert explore_state.initial_selection(picture, forced, "en").step == 2
    assert explore_state.initial_selection(picture, old, "zh").step == 2
    assert (
        explore_state.initial_selection(picture, old, "en") == Selection()
    )  # nothing is sent again


@pytest.mark.parametrize("step", [None, 0, 0.0])
def test_a_trace_without_steps_writes_none_into_the_url(step):
    first = Picture(Request("reverse", "1 2"), Selection(), "en")
    explore_state.remember_picture(first, False, 3)
    picture = Picture(Request("upload.trace", "", 2), Selection("encoder", 0, 0, None), "en")
    explore_state.remember_picture(picture, False, 0)
    assert selection() == Selection("encoder", 0, 0, None)
    explore_state.read_player(
        {"selection": {"site": "encoder", "layer": 0, "head": 0, "step": step}}
    )
    assert "step" not in to_query(Look(picture.request, selection()))


def test_after_a_failure_only_what_the_picture_has_is_forced():
    visit_state.set_forced({2: 4, 3: 9999})
    explore_state.restore_changes(Request("reverse", "1 2", forced=((2, 4),)))
    assert request().forced == ((2, 4),)
    explore_state.restore_changes(Request("reverse", "another", forced=((2, 4),)))
    assert request().forced == ()


def test_after_a_refused_text_what_is_changed_on_any_text_stays():
    visit_state.return_to(Look(Request("reverse", "")))
    lines = ["close cross.0.0 0 1", "draw 0.8 2"]
    shown = Request("reverse", "1 2", interventions=Interventions.parse(lines))
    explore_state.restore_changes(shown)
    assert visit_state.current().request.interventions.texts() == ("draw 0.8 2",)


def test_the_shown_selection_is_one_object_for_the_whole_session():
    explore_state.shown_selection().selection = Selection("cross", 0, 1, 2)
    assert explore_state.shown_selection().selection.step == 2
