import pytest
import streamlit as st

from explorer.app.permalink import Place, Request, Selection, to_query
from explorer.app.server.rate_limit import Turns
from explorer.app.state import explore as explore_state
from explorer.app.state.explore import MODEL, PAD, PLAYER, SOURCE, Shown, VisitError
from tests.support.catalog_members import shipped

SHELF = {
    "reverse": shipped("reverse", "123", task="reverse"),
    "letters": shipped("letters", "abc"),
}


@pytest.fixture
def state(monkeypatch) -> dict:
    """A session that has just opened the first model."""
    state = {MODEL: "reverse", SOURCE: "1 2", PAD: 2}
    monkeypatch.setattr(st, "session_state", state)
    return state


def report(state: dict, **what: object) -> None:
    """Let the player report, as Streamlit hands it on."""
    state[PLAYER] = what
    explore_state.read_player()


def test_the_request_is_what_the_controls_show(state):
    assert explore_state.request() == Request("reverse", "1 2", 2)


def test_another_text_is_decoded_freely(state):
    report(state, force={"step": 1, "id": 4})
    explore_state.ask("3 3")
    assert explore_state.request() == Request("reverse", "3 3", 2)


def test_a_model_that_cannot_read_the_text_gets_one_it_can(state):
    explore_state.choose_model("letters", SHELF)
    assert SHELF["letters"].summary.reads(explore_state.request().text)
    explore_state.choose_model("reverse", SHELF)
    assert SHELF["reverse"].summary.reads(explore_state.request().text)


def test_another_model_keeps_a_text_it_has_room_for(state):
    longer = " ".join("1231231")
    explore_state.ask(longer)
    explore_state.choose_model("reverse", SHELF)
    assert explore_state.request().text == longer


def test_a_forced_token_ends_what_was_forced_after_it(state):
    report(state, force={"step": 2, "id": 4})
    report(state, force={"step": 4.0, "id": 5.0})
    assert explore_state.request().forced == ((2, 4), (4, 5))
    report(state, force={"step": 1, "id": 6})
    assert explore_state.request().forced == ((1, 6),)
    assert explore_state.selection().step == 1


def test_forced_tokens_are_taken_back_one_by_one_or_all(state):
    report(state, force={"step": 2, "id": 4})
    report(state, force={"step": 4, "id": 5})
    report(state, unforce=2)
    assert explore_state.request().forced == ((4, 5),)
    report(state, reset=True)
    assert explore_state.request().forced == ()


@pytest.mark.parametrize(
    "what",
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
def test_a_malformed_report_changes_nothing(state, what):
    report(state, **what)
    assert explore_state.request() == Request("reverse", "1 2", 2)
    assert explore_state.selection() == Selection()


def test_the_selection_is_read_part_by_part(state):
    report(state, selection={"site": "../x", "layer": 1, "head": "2", "step": 3.0})
    assert explore_state.selection() == Selection(None, 1, None, 3)


def test_a_new_text_opens_at_its_last_step_with_the_head_in_view(state):
    state["selection"] = Selection("cross", 1, 3, 2)
    explore_state.show(Shown(Request("reverse", "1 2"), Selection(), "en"), False, 3)
    new = Request("reverse", "3 2 1")
    assert explore_state.opening(new, "en") == Selection("cross", 1, 3, None)
    explore_state.show(Shown(new, Selection("cross", 1, 3, None), "en"), False, 4)
    assert explore_state.selection() == Selection("cross", 1, 3, 4)


def test_a_forced_token_and_another_language_leave_the_step_where_it_is(state):
    state["selection"] = Selection("cross", 1, 3, 2)
    old = Request("reverse", "1 2")
    explore_state.show(Shown(old, Selection(), "en"), False, 3)
    assert explore_state.opening(Request("reverse", "1 2", forced=((2, 4),)), "en").step == 2
    assert explore_state.opening(old, "zh").step == 2
    assert explore_state.opening(old, "en") == Selection()  # nothing new: nothing is sent again


def test_turns_run_out_and_come_back(monkeypatch):
    turns, now = Turns(owners=9), [100.0]
    monkeypatch.setattr("explorer.app.server.rate_limit.time.monotonic", lambda: now[0])
    assert [turns.spend({"a": 1}, 2, 3) for _ in range(4)] == [True, True, True, False]
    now[0] += 0.5
    assert [turns.spend({"a": 1}, 2, 3) for _ in range(2)] == [True, False]
    assert turns.spend({"b": 1}, 2, 3)


def test_a_turn_that_one_owner_has_not_costs_the_others_nothing():
    turns = Turns(owners=9)
    assert turns.spend({"a": 1, "all": 3}, 0, 1)
    assert not turns.spend({"a": 1, "all": 3}, 0, 1)
    assert [turns.spend({f"visitor {n}": 1, "all": 3}, 0, 1) for n in range(3)] == [1, 1, 0]


def test_only_the_owners_seen_last_are_remembered():
    turns = Turns(owners=2)
    assert [turns.spend({owner: 1}, 0, 1) for owner in "abcbca"] == [1, 1, 1, 0, 0, 1]


def test_a_reload_brings_new_turns_only_as_far_as_the_address_has_some(monkeypatch):
    monkeypatch.setattr(explore_state, "_turns", Turns(owners=99))
    sessions = iter(range(1000))
    monkeypatch.setattr(explore_state, "_number", lambda: str(next(sessions)))
    taken = sum(explore_state.spend(0, 1) for _ in range(100))
    assert taken == 40


def test_a_session_has_its_own_turns_in_a_room_with_one_address(monkeypatch):
    monkeypatch.setattr(explore_state, "_turns", Turns(owners=99))
    monkeypatch.setattr(explore_state, "_number", lambda: "one tab")
    assert [explore_state.spend(0, 2) for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(explore_state, "_number", lambda: "the neighbour's")
    assert explore_state.spend(0, 2)


def test_the_host_s_session_is_told_to_who_admits(state, monkeypatch):
    monkeypatch.setattr(explore_state, "_number", lambda: "one tab")
    admitted: list[str] = []
    for word in ("no", "yes"):
        state[explore_state.HOST_KEY] = word
        explore_state.become_host("yes".__eq__, admitted.append)
        assert (explore_state.is_host(), admitted) == (
            (True, ["one tab"]) if word == "yes" else (False, [])
        )


@pytest.mark.parametrize("step", [None, 0, 0.0])
def test_a_trace_without_steps_puts_none_into_the_address(state, step):
    shown = Shown(Request("upload.trace", "", 2), Selection("encoder", 0, 0, None), "en")
    explore_state.show(Shown(Request("reverse", "1 2"), Selection(), "en"), False, 3)
    explore_state.show(shown, False, 0)
    assert explore_state.selection() == Selection("encoder", 0, 0, None)
    report(state, selection={"site": "encoder", "layer": 0, "head": 0, "step": step})
    assert "step" not in to_query(Place(shown.request, explore_state.selection()))


def test_a_visit_error_speaks_both_languages():
    error = VisitError("too_many_uploads", limit=4)
    assert "4 files" in str(error)
    assert "4 个文件" in error.in_language("zh")


def test_a_text_that_makes_no_sense_to_the_other_kind_of_model_gives_way(state):
    translator = shipped("own", most_tokens=65)
    shelf = {**SHELF, "own": translator}
    explore_state.choose_model("own", shelf)
    assert explore_state.request().text == translator.examples[0]
    explore_state.ask("Good morning!")
    explore_state.choose_model("own", shelf)
    assert explore_state.request().text == "Good morning!"
    explore_state.choose_model("reverse", shelf)
    assert SHELF["reverse"].summary.reads(explore_state.request().text)
