from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.app import model_cache
from explorer.app.trace_notes import model_notes
from explorer.core.i18n import say
from explorer.core.look import Request
from explorer.model.catalog import UploadedTrace
from explorer.model.directory_search import find_directories, named_models
from explorer.model.model_directory import DirectoryModel
from tests.support.huggingface_families import saved, tiny_model
from tests.support.small_trace import small_trace


@pytest.fixture
def without_tokenizer(tmp_path: Path) -> DirectoryModel:
    model = tiny_model("llama")
    model.generation_config.update(do_sample=True)
    saved(model, tmp_path / "llama")
    return named_models(find_directories([tmp_path]))["llama"]


def test_a_model_by_ids_and_settings_that_are_not_applied_are_said(without_tokenizer):
    trace = model_cache.trace(without_tokenizer, Request("llama", "5 6"))
    text = model_notes(without_tokenizer, trace, "en")
    assert "goes on by ids" in text
    assert text.endswith(say("explore.note_not_applied", names="do_sample"))
    assert "改用 id 输入" in model_notes(without_tokenizer, trace, "zh")
    uploaded = UploadedTrace("mine", "stamp", trace)
    assert "goes on by ids" in model_notes(uploaded, trace, "zh")


def test_sinks_are_said():
    trace = small_trace()
    sink = np.zeros(trace.attention("cross").shape[:3], np.float32)
    with_sink = replace(trace, arrays={**trace.arrays, "cross.sink": sink}, digest="")
    assert "attention sink" in model_notes(UploadedTrace("x", "x", trace), with_sink, "en")


@pytest.mark.parametrize("facts", [{}, {"notes": "x"}, {"notes": [3]}, {"not_applied": {"a": 1}}])
def test_nothing_is_said_of_other_traces(facts):
    trace = small_trace(facts=facts)
    assert model_notes(UploadedTrace("x", "x", trace), trace, "en") == ""
