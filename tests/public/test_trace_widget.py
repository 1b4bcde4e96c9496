from typing import Any

import numpy as np
import pytest

import explorer
from explorer.components.trace_questions import TRACE_QUESTIONS, Place
from explorer.core.errors import TraceError
from explorer.heads.initial_head import initial_head
from tests.support.asked_models import AskedExplorable
from tests.support.payloads import unpack_payload

pytest.importorskip("anywidget")


@pytest.fixture(scope="module")
def model() -> Any:
    return explorer.load("reverse")


@pytest.fixture
def view(model) -> Any:
    """`told`: what it has sent."""
    view = explorer.widget(model, "7 3 9", site="cross", layer=1, head=2, step=3)
    view.told = []
    view.send = lambda content, buffers=None: view.told.append((content, buffers or []))
    return view


def shown(view: Any) -> dict[str, Any]:
    """What the payload of the player opens with."""
    return unpack_payload(view._payload)[0]["view"]


def test_the_traits_are_what_the_picture_opens_with(view, model):
    assert (view.site, view.layer, view.head, view.step, view.cell) == ("cross", 1, 2, 3, None)
    opened = shown(view)
    assert [opened[name] for name in ("site", "layer", "head", "step")] == ["cross", 1, 2, 3]
    assert view.trace.digest == model.trace("7 3 9").digest


def test_without_a_place_it_opens_at_the_head_that_shows_most_and_the_last_step(model):
    trace = model.trace("7 3 9 1 4")
    view = explorer.widget(trace)
    assert (view.site, view.layer, view.head) == initial_head(trace)
    assert view.step == len(trace.target_tokens) == 6
    assert shown(view)["step"] is None  # with all rows
    assert not shown(view)["what_if"]
    mean = explorer.widget(trace, site="encoder", layer=1)
    assert (mean.site, mean.layer, mean.head) == ("encoder", 1, None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("site", "foo"), ("layer", 2), ("head", 4), ("step", 5), ("cell", (0, 4)), ("head", "1")],
)
def test_a_trait_that_the_trace_does_not_have_stays_as_it_was(name, value, view):
    before = getattr(view, name)
    with pytest.raises(TraceError):
        setattr(view, name, value)
    assert getattr(view, name) == before
    with pytest.raises(TraceError):  # as the browser sets several at once
        view.set_state({"site": "encoder", name: value})
    assert (view.site, getattr(view, name)) == ("cross", before)


def test_numbers_of_numpy_become_those_that_a_message_holds(view):
    view.head = np.int64(1)
    assert type(view.head) is int


def test_a_cell_is_in_the_row_of_its_step(view):
    view.cell = [1, 2]
    assert (view.cell, view.step) == ((1, 2), 2)
    view.cell = None
    view.site = "encoder"
    view.cell = (0, 2)
    assert view.step == 2


def ask(view: Any, question: str, place: str) -> tuple[dict[str, Any], list[bytes]]:
    view._handle_custom_msg({"id": 0.5, "question": question, "place": place}, [])
    content, buffers = view.told[-1]
    assert content["id"] == 0.5
    return content, buffers


def test_a_question_has_the_answer_of_the_same_function(view, model):
    asked = AskedExplorable(model, "7 3 9")
    for name, place, address in (
        ("vectors", Place(site="cross", layer=1, head=2), "cross/1/2"),
        ("contributions", Place(method="alti"), "alti"),
        ("decisive", Place(), ""),
    ):
        expected = TRACE_QUESTIONS[name].payload(view.trace, place, asked)
        assert ask(view, name, address) == ({"id": 0.5}, [expected])


def test_a_layer_is_captured_once(view, model, monkeypatch):
    calls: list[str] = []
    trace = type(model).trace
    counted = lambda self, *given, **options: calls.append("") or trace(self, *given, **options)  # noqa: E731
    monkeypatch.setattr(type(model), "trace", counted)
    for head in range(4):
        ask(view, "vectors", f"cross/1/{head}")
    assert len(calls) == 1


def test_what_is_not_offered_is_refused_in_a_sentence(view, model):
    content, buffers = ask(view, "integrity", "")
    assert "has nothing called “integrity”" in content["refused"]
    assert not buffers
    alone = explorer.widget(view.trace)
    alone.told, alone.send = [], lambda content: alone.told.append((content, []))
    assert "nothing called" in ask(alone, "vectors", "cross/1/2")[0]["refused"]


def change(view: Any, **changes: Any) -> None:
    """As `playerListeners.ts` asks for it."""
    looked = {"site": "cross", "layer": 0, "head": 1, "step": 2, "words": True, "ahead": False}
    asked = {"request": {**view._request, **changes}, "view": looked}
    view._handle_custom_msg({"asked": asked}, [])


def test_edit_shows_another_trace_at_the_same_place(view, model):
    seen: list[Any] = []
    view.observe(seen.append, "trace")
    change(view, interventions=["ablate cross.1.0"], forced=[[1, 5]])
    expected = model.trace("7 3 9", ablate=["cross.1.0"], force={1: 5})
    assert view.trace.digest == expected.digest
    assert [one["new"] for one in seen] == [view.trace]
    assert (view.site, view.layer, view.head, view.step) == ("cross", 0, 1, 2)
    opened = shown(view)
    assert opened["words"] is True
    assert opened["what_if"] is True
    assert opened["forced"] == [[1, expected.predicted_tokens[0]]]
    assert tuple(opened["original"]) == model.trace("7 3 9").predicted_tokens
    assert view._request["forced"] == [[1, 5]]
    assert view._request["interventions"] == ["ablate cross.1.0"]
    change(view, interventions=[], forced=[])
    assert view.trace.digest == model.trace("7 3 9").digest
    assert shown(view)["original"] == []


def test_a_change_that_is_refused_leaves_what_is_shown(view):
    before = view.trace
    change(view, forced=[[1, 999]])
    content, _ = view.told[-1]
    assert content["id"] is None
    assert content["refused"].startswith("Token number 999 cannot be forced")
    assert view.trace is before
    assert view._request["forced"] == []


def test_of_the_library_questions_are_answered_too():
    from explorer.model.huggingface.opening.wrapping import wrapped
    from tests.support.huggingface_families import tiny_model

    model = wrapped(tiny_model("gpt2"), None, "gpt2")
    view = explorer.widget(model, "5 17 8")
    view.told, view.send = [], lambda content, buffers=None: view.told.append((content, buffers))
    asked = AskedExplorable(model, "5 17 8")
    expected = TRACE_QUESTIONS["attribution"].payload(view.trace, Place(), asked)
    assert ask(view, "attribution", "") == ({"id": 0.5}, [expected])
