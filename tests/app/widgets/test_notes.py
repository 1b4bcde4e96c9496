"""The parts of the note in the header."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.app import model_cache
from explorer.app.widgets.notes import model_notes, short_credit, text_note
from explorer.core.i18n import LANGUAGES, say
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.model.catalog import ShippedModel, UploadedTrace, shipped_models
from explorer.model.directory_search import find_directories, named_models
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import shipped
from tests.support.huggingface_families import saved, tiny_model
from tests.support.shared_examples import shared_examples
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
    assert text.endswith("settings: do_sample.")
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


EXAMPLES = shared_examples("text_note")


def reader(name: str) -> ShippedModel:
    """The model of this name in the examples."""
    given = EXAMPLES["models"][name]
    words = {f"{side}_words": frozenset(given.get(side, ())) for side in ("source", "target")}
    symbols = "".join(given.get("symbols", ()))
    own = {"trained_tokens": given.get("longest", 128), **words}
    return shipped(name, symbols, **own, **({} if symbols else {"sentences": (given["example"],)}))


@pytest.mark.parametrize("example", EXAMPLES["notes"])
def test_a_text_that_a_model_was_not_trained_for_is_noted(example):
    """The examples are those of the test of `textNotes.ts`."""
    tokens = example["tokens"]
    rows = [[1 / len(tokens)] * len(tokens)] * len(tokens)
    trace = Trace.from_arrays(tokens, encoder=[[rows]])
    note, facts = example["note"], example.get("facts", {})
    for language in LANGUAGES:
        found = text_note(reader(example["model"]), example["text"], trace, language)
        assert found == (say(f"explore.note_{note}", language, **facts) if note else "")


TATOEBA = "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, CC BY 2.0 FR; authors"


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "Sentences: Tatoeba, CC BY 2.0 FR"), ("zh", "例句来源：Tatoeba，CC BY 2.0 FR")],
)
def test_corpus_and_licence_are_named_in_the_language_of_the_page(language, shown):
    assert short_credit(TATOEBA, language) == shown
    own = {model.summary.credit for model in shipped_models().values() if model.summary.credit}
    assert {short_credit(credit, language) for credit in own} == {shown}


def test_another_credit_is_shown_as_it_is():
    assert short_credit("Drawn by hand", "zh") == "Drawn by hand"
    assert short_credit("", "en") == ""
