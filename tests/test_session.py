import pytest
import streamlit as st

from explorer import session
from explorer.library import Entry
from explorer.place import Request, Selection
from explorer.session import MODEL, PAD, PLAYER, SOURCE, Shown, VisitError

SHELF = {
    "reverse": Entry("reverse", "1", tuple("123"), 5, {"task": "reverse"}),
    "letters": Entry("letters", "2", tuple("abc"), 5),
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
    session.read_player()


def test_the_request_is_what_the_controls_show(state):
    assert session.request() == Request("reverse", "1 2", 2)


def test_another_text_is_decoded_freely(state):
    report(state, force={"step": 1, "id": 4})
    session.ask("3 3")
    assert session.request() == Request("reverse", "3 3", 2)


def test_a_model_that_cannot_read_the_text_gets_one_it_can(state):
    session.choose_model("letters", SHELF)
    assert SHELF["letters"].reads(session.request().text)
    session.choose_model("reverse", SHELF)
    assert SHELF["reverse"].reads(session.request().text)


def test_a_forced_token_ends_what_was_forced_after_it(state):
    report(state, force={"step": 2, "id": 4})
    report(state, force={"step": 4.0, "id": 5.0})
    assert session.request().forced == ((2, 4), (4, 5))
    report(state, force={"step": 1, "id": 6})
    assert session.request().forced == ((1, 6),)
    assert session.selection().step == 1


def test_forced_tokens_are_taken_back_one_by_one_or_all(state):
    report(state, force={"step": 2, "id": 4})
    report(state, force={"step": 4, "id": 5})
    report(state, unforce=2)
    assert session.request().forced == ((4, 5),)
    report(state, reset=True)
    assert session.request().forced == ()


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
        {"force": {"step": 1, "id": 10**30}},
        {"unforce": [1]},
        {"selection": "cross"},
    ],
)
def test_a_malformed_report_changes_nothing(state, what):
    report(state, **what)
    assert session.request() == Request("reverse", "1 2", 2)
    assert session.selection() == Selection()


def test_the_selection_is_read_part_by_part(state):
    report(state, selection={"site": "../x", "layer": 1, "head": "2", "step": 3.0})
    assert session.selection() == Selection(None, 1, None, 3)


def test_a_new_text_opens_at_its_last_step_with_the_head_in_view(state):
    state["selection"] = Selection("cross", 1, 3, 2)
    session.show(Shown(Request("reverse", "1 2"), Selection(), "en"), False, 3)
    new = Request("reverse", "3 2 1")
    assert session.opening(new, "en") == Selection("cross", 1, 3, None)
    session.show(Shown(new, Selection("cross", 1, 3, None), "en"), False, 4)
    assert session.selection() == Selection("cross", 1, 3, 4)


def test_a_forced_token_and_another_language_leave_the_step_where_it_is(state):
    state["selection"] = Selection("cross", 1, 3, 2)
    old = Request("reverse", "1 2")
    session.show(Shown(old, Selection(), "en"), False, 3)
    assert session.opening(Request("reverse", "1 2", forced=((2, 4),)), "en").step == 2
    assert session.opening(old, "zh").step == 2
    assert session.opening(old, "en") == Selection()  # nothing new: nothing is sent again


def test_uploads_are_named_apart_and_bounded(state):
    names = []
    for number in range(session.MOST_UPLOADS):
        entry = Entry("letters", f"upload {number}", ("a",), 3)
        names.append(session.keep_upload(entry, {**SHELF, **session.uploads()}))
    assert names == ["letters (2)", "letters (3)", "letters (4)", "letters (5)"]
    again = Entry("letters", "upload 0", ("a",), 3)
    assert session.keep_upload(again, SHELF) == "letters (2)"
    with pytest.raises(VisitError, match="delete one first"):
        session.keep_upload(Entry("more", "another", ("a",), 3), SHELF)


def test_a_deleted_upload_gives_way_to_the_first_model(state):
    name = session.keep_upload(Entry("mine", "upload", ("a",), 3), SHELF)
    session.choose_model(name, {**SHELF, **session.uploads()})
    assert session.request() == Request("mine", "a a a", 2)
    session.delete_upload(name, {**SHELF, **session.uploads()})
    assert session.uploads() == {}
    assert session.request().model == "reverse"


def test_a_visitor_s_turns_run_out_and_come_back(state, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])
    assert [session.spend(2, 3) for _ in range(4)] == [True, True, True, False]
    now[0] += 0.5
    assert [session.spend(2, 3) for _ in range(2)] == [True, False]


def test_a_visit_error_speaks_both_languages():
    error = VisitError("too_many_uploads", limit=4)
    assert "4 files" in str(error)
    assert "4 个文件" in error.in_language("zh")
