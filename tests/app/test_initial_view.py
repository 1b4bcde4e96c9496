from dataclasses import replace

import pytest

from explorer.app import model_cache
from explorer.app.initial_view import changed_view, chosen_head, initial_selection
from explorer.components.player.payload import View
from explorer.core import folders
from explorer.core.look import Request, Selection
from explorer.heads.initial_head import initial_choice, initial_step
from explorer.model.catalog import UploadedTrace, shipped_models
from tests.support.example_traces import example_trace


@pytest.fixture(autouse=True)
def nothing_measured(tmp_path, monkeypatch) -> None:
    """No report says which head shows most."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def test_a_trace_opens_at_the_cross_head_and_the_step_that_show_most():
    trace = example_trace()
    member = UploadedTrace("mine", "stamp", trace)
    choice = initial_choice(trace)
    assert chosen_head(Selection(), member, trace) == choice
    opened = initial_selection(Selection(), member, trace, with_step=True)
    assert opened.named_head == choice.head
    assert opened.step == initial_step(trace, *choice.head)
    assert initial_selection(Selection(), member, trace, with_step=False).step is None


@pytest.mark.parametrize("wanted", [Selection("cross", 0, 1), Selection("decoder")])
def test_a_head_or_an_attention_that_is_named_stays(wanted):
    trace = example_trace()
    member = UploadedTrace("mine", "stamp", trace)
    assert initial_selection(wanted, member, trace, with_step=False) == wanted


def test_all_texts_of_a_model_open_at_one_head():
    model = shipped_models()["reverse"]
    traces = [model_cache.trace(model, Request("reverse", text)) for text in ("7 3", "a b c d 1")]
    assert len({initial_choice(trace).head for trace in traces}) > 1
    opened = {initial_selection(Selection(), model, one, with_step=False) for one in traces}
    assert len(opened) == 1


def test_forced_tokens_stand_beside_the_output_without_them():
    member = shipped_models()["reverse"]
    free = Request("reverse", "7 3 9", 0)
    trace = model_cache.trace(member, free)
    assert changed_view(member, free, trace) == View()
    forced = replace(free, forced=((2, 4),))
    changed = model_cache.trace(member, forced)
    view = changed_view(member, forced, changed)
    assert view.forced == ((2, changed.predicted_tokens[1]),)
    assert view.original == trace.predicted_tokens
