"""The parts of the note in the header."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.app import model_cache
from explorer.app.widgets.notes import model_notes, short_credit, text_note
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.model.catalog import UploadedTrace, shipped_models
from explorer.model.directory_search import find_directories, named_models
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import shipped
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


BYTES_OF = {letter: [f"<0x{byte:02X}>" for byte in letter.encode()] for letter in "猫睡我\u202e"}
TRANSLATOR = shipped("translator", sentences=("A cat.",), trained_tokens=128)


def trace(*tokens: str) -> Trace:
    """A trace that reads `tokens`."""
    rows = [[1 / len(tokens)] * len(tokens)] * len(tokens)
    return Trace.from_arrays(tokens, encoder=[[rows]])


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("A cat.", ("▁A", "▁cat", "."), ""),
        ("猫在睡觉。", ("▁", "猫在", "睡觉"), "never saw Chinese"),
        ("猫睡觉", ("▁", *BYTES_OF["猫"], *BYTES_OF["睡"]), "never saw Chinese"),
        ("A cat 我 runs.", ("▁A", "▁cat", "▁", *BYTES_OF["我"], "▁runs"), "no piece for 我:"),
        (
            "A 😀 cat",
            ("▁A", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁cat"),
            "no piece for 😀:",
        ),
        ("😀", ("▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"), "no piece for 😀:"),
        ("\u202ea", ("▁", *BYTES_OF["\u202e"], "a"), "no piece for U+202E:"),
        ("12345", ("▁12", "345"), "this text has no word"),
        ("WHERE IS TOM?", ("▁W", "HE", "RE", "▁IS", "▁T", "OM", "?"), "All in capitals"),
        ("TV", ("▁T", "V"), ""),
        ("!!! ... ???", ("▁", "!!!", "▁", "...", "▁", "???"), "this text has no word"),
    ],
)
def test_a_text_unlike_those_of_the_training_is_said_to_be_so(text, tokens, words):
    note = text_note(TRANSLATOR, text, trace(*tokens), "en")
    assert words in note
    assert bool(words) == bool(note) == bool(text_note(TRANSLATOR, text, trace(*tokens), "zh"))


def test_a_reader_of_chinese_says_so_of_a_text_in_known_letters():
    reader = shipped("reader", sentences=("猫在睡觉。",))
    english = trace("▁I", "▁like", "▁tea", ".")
    assert "This model reads Chinese" in text_note(reader, "I like tea.", english, "en")
    assert "此模型读中文" in text_note(reader, "I like tea.", english, "zh")
    assert text_note(reader, "我爱喝茶。", trace("▁我", "爱", "喝茶", "。"), "en") == ""


def test_a_text_in_the_target_language_or_of_unknown_words_is_asked_about():
    reader = shipped(
        "translator",
        sentences=("A cat.",),
        source_words=frozenset({"i", "the", "dog", "a", "is", "my", "see"}),
        target_words=frozenset({"je", "le", "chien", "a", "vois", "bonjour"}),
    )

    def note(text: str, language: str = "en") -> str:
        return text_note(reader, text, trace(*text.split()), language)

    assert "the model writes" in note("Je vois le chien.")
    assert "译入的语言" in note("Je vois le chien.", "zh")
    assert "the model writes" in note("Bonjour !")
    assert "Few of these words" in note("Wir gehen heute sehr lange schwimmen.")
    german = trace("▁Wir", "▁h", *(f"<0x{byte:02X}>" for byte in "ö".encode()), "ren", "▁ihn")
    assert "Few of these words" in text_note(reader, "Wir hören ihn", german, "en")
    assert note("I see the poodle.") == note("Dogs bark.") == note("A bonjour a dog") == ""


def test_at_most_four_characters_are_named():
    tokens = [f"<0x{byte:02X}>" for byte in "ÀÈÌÒÙ".encode()]
    note = text_note(TRANSLATOR, "ÀÈÌÒÙ", trace(*tokens), "en")
    assert "no piece for À È Ì Ò …:" in note


def test_a_text_longer_than_those_of_the_training_is_said_to_be_so():
    model = shipped("reverse", "123", trained_tokens=3)
    ends = ("<eos>", "<pad>", "<pad>")
    assert text_note(model, "1 2 3", trace("1", "2", "3", *ends), "en") == ""
    longer = trace("1", "2", "3", "1", *ends)
    assert "training (3 tokens)" in text_note(model, "1 2 3 1", longer, "en")
    assert "3 个词元" in text_note(model, "1 2 3 1", longer, "zh")
    translator = shipped("translator", sentences=("A cat.",), trained_tokens=2)
    assert "2 tokens" in text_note(translator, "A cat.", trace("▁A", "▁cat", "."), "en")
    assert "capitals" in text_note(translator, "A CAT.", trace("▁A", "▁CAT", "."), "en")


def test_models_of_symbols_have_no_note_on_words():
    assert text_note(shipped("reverse", "123"), "1 2", trace("1", "2"), "en") == ""


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
