import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.core import folders
from explorer.core.errors import CheckpointError, TraceError
from explorer.core.trace import Trace
from explorer.data.parallel_corpus import parse_pairs
from explorer.model import catalog
from explorer.model.catalog import Entry, bring, describe, shipped
from explorer.model.checkpoint import save_checkpoint, to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.training.trainer import Trainer
from tests.support.toy_sentences import TINY_PAIRS, as_table


@pytest.fixture
def folder(tmp_path, monkeypatch, explorable: ExplorableModel) -> Path:
    """A folder of checkpoints: two of ours, one that is none, and something beside them."""
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    save_checkpoint(explorable.checkpoint, tmp_path / "another.safetensors")
    save_checkpoint(explorable.checkpoint, tmp_path / "reverse.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    (tmp_path / "README.md").write_text("no model")
    return tmp_path


def test_only_checkpoints_are_listed_reverse_first(folder):
    assert list(shipped()) == ["reverse", "another"]


def test_the_list_is_read_without_loading_a_model(folder):
    entry = shipped()["reverse"]
    assert entry.model is None
    assert entry.symbols == ("1", "2", "3", "<b>", "甲")
    assert entry.longest == 10


def test_a_changed_file_is_another_entry(folder):
    before = shipped()["reverse"]
    shutil.copy(folder / "another.safetensors", folder / "reverse.safetensors")
    assert shipped()["reverse"].stamp != before.stamp


def test_an_entry_loads_the_model_it_describes(folder):
    assert shipped()["reverse"].load().trace("1 2").source_tokens == ("1", "2", "<eos>")


def test_facts_are_told_in_both_languages():
    facts = {"task": "reverse", "encoder_layers": 2, "decoder_layers": 2, "heads": 4}
    entry = Entry("reverse", "", description=facts | {"exact_match": 0.99812}, path=Path("x"))
    assert describe(entry, "en") == "reverse · 2+2 layers · 4 heads · 99.8 % exact"
    assert describe(entry, "zh") == "reverse · 2+2 层 · 4 头 · 99.8 % 全对"


def test_examples_and_random_texts_are_ones_the_model_reads(folder):
    for entry in shipped().values():
        texts = [*entry.examples, *(entry.random_text(random.Random(seed)) for seed in range(20))]
        assert all(entry.reads(text) for text in texts)


def test_the_shipped_models_are_listed_with_examples_in_chinese(monkeypatch):
    monkeypatch.delenv(folders.CHECKPOINTS_VARIABLE, raising=False)
    models = shipped()
    assert next(iter(models)) == "reverse"
    assert {"copy", "reverse", "sort", "chinese-english"} <= set(models)
    for entry in (entry for entry in models.values() if not entry.sentences):
        assert any("甲" in text for text in entry.examples)
        assert entry.examples[0] == "7 3 9 1 4"


def test_an_uploaded_checkpoint_is_an_entry_like_the_others(explorable):
    entry = bring("../my model.safetensors", to_bytes(explorable.checkpoint))
    assert entry.name == "my model"
    assert entry.uploaded
    assert entry.load().trace("1").text == explorable.trace("1").text
    assert describe(entry, "en").startswith("my model · 1+2 layers · 3 heads")


def test_an_uploaded_trace_is_shown_without_a_model(explorable):
    trace = explorable.trace("1 2 3")
    entry = bring("lesson.trace", trace.to_bytes())
    assert entry.name == "lesson.trace"
    assert entry.trace is not None
    assert entry.trace.digest == trace.digest
    assert entry.random_text(random.Random(0)) == ""


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("x.trace", b"PK\x03\x04 nothing", TraceError),
        ("x.safetensors", b"\x80\x04 pickle", CheckpointError),
        ("x.safetensors", b"", CheckpointError),
    ],
)
def test_a_file_that_is_neither_is_refused_in_a_sentence(name, data, error):
    with pytest.raises(error, match="“x"):
        bring(name, data)


def test_a_trace_too_large_to_keep_is_refused_before_it_unfolds(monkeypatch):
    monkeypatch.setattr(catalog, "LARGEST_TRACE", 2**20)
    large = Trace.from_arrays(["a"] * 300, encoder=np.full((1, 4, 300, 300), 1 / 300)).to_bytes()
    monkeypatch.setattr(np, "load", None)  # whoever unfolds it fails
    with pytest.raises(TraceError, match="more than 1 MB"):
        bring("large.trace", large)


def test_a_model_reads_what_it_has_room_for_and_offers_what_it_was_trained_for():
    entry = Entry("x", "", tuple("12345abc甲乙丙丁79de"), longest=6, room=12)
    assert entry.reads("1 2 3 4 5 1 2 3 4 5 1 2")
    assert not entry.reads("1 2 3 4 5 1 2 3 4 5 1 2 3")
    assert all(len(text.split()) <= 6 for text in entry.examples)
    assert len(entry.random_text(random.Random(1)).split()) <= 6
    assert shipped()["reverse"].room == 33
    assert shipped()["reverse"].longest == 16


@pytest.fixture(scope="module")
def translator(tmp_path_factory) -> bytes:
    """A checkpoint of a model of sentences that has learnt nothing yet, with some facts."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(path)))
    return to_bytes(trainer.checkpoint({"bleu": 51.234, "credit": "by somebody"}))


def both(translator: bytes, folder: Path) -> tuple[Entry, Entry]:
    """The model as a listed file and as an upload."""
    (folder / "own.safetensors").write_bytes(translator)
    return shipped()["own"], bring("own.safetensors", translator)


def test_a_model_of_sentences_is_listed_before_torch_and_uploaded_alike(translator, folder):
    listed, uploaded = both(translator, folder)
    for entry in (listed, uploaded):
        assert entry.sentences
        assert entry.symbols == ()
        assert (entry.longest, entry.room) == (32, 65)
        assert describe(entry, "en").startswith("own · 1+1 layers · 2 heads · BLEU 51.2")
        assert entry.credit == "by somebody"
    assert listed.examples == uploaded.examples
    assert listed.load().trace(listed.examples[0]).source_tokens[-1] == "<eos>"


def test_its_examples_are_sentences_that_its_training_held_out(translator, folder):
    entry = both(translator, folder)[0]
    held_out = {pair.source for pair in parse_pairs(as_table().encode(), "x").part("dev")}
    assert 1 < len(entry.examples) <= 8
    assert set(entry.examples) <= held_out
    assert entry.random_text(random.Random(1)) in held_out


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("The cat sees a dog.", True),
        ("我今天看见一只狗。", True),
        ("7 3 9 1 4", False),
        ("甲 乙 丙 丁", False),
        ("", False),
        ("word " * 65, True),
        ("word " * 66, False),
        ("x" * 20_001, False),
    ],
)
def test_any_text_with_a_word_makes_sense_to_it_that_may_fit(text, reads):
    assert Entry("x", "", room=65, sentences=True).reads(text) is reads


@pytest.mark.parametrize(
    "facts", [{"credit": 7, "examples": "no"}, {"examples": [3, "", "a" * 9999]}]
)
def test_facts_that_are_no_text_are_left_aside(facts):
    entry = Entry("x", "", room=65, sentences=True, description=catalog._shown_facts(facts))
    assert entry.credit == ""
    assert entry.examples == ("The black cat is sleeping on the red chair.",)
