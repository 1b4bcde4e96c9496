from pathlib import Path

import pytest

from explorer.app import model_cache, model_directories
from explorer.core import folders
from explorer.model.listed_model import TextKind
from tests.support.huggingface_families import saved, tiny_model


def test_nothing_is_listed_unless_folders_are_named(monkeypatch):
    monkeypatch.delenv(folders.MODELS_VARIABLE, raising=False)
    assert model_directories.model_directories() == {}


def test_the_models_below_the_named_folders_are_listed(model_folder, monkeypatch):
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    listed = model_directories.model_directories()
    assert list(listed) == ["bert-tiny", "gpt-tiny", "opus-tiny"]
    kinds = [model.kind for model in listed.values()]
    assert kinds == [TextKind.MASKED, TextKind.PROMPT, TextKind.SENTENCE]
    taken = model_directories.model_directories({"bert-tiny"})
    assert f"{model_folder.name}/bert-tiny" in taken


@pytest.fixture
def without_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose tokenizer the library builds without entries, because files are missing."""
    folder = saved(tiny_model("bert"), tmp_path / "bert")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))


def test_a_loaded_model_that_goes_on_by_ids_is_known_to(without_entries):
    assert model_directories.model_directories()["bert"].kind == TextKind.MASKED
    model_cache.model_of(model_directories.model_directories()["bert"])
    member = model_directories.model_directories()["bert"]
    assert member.kind == TextKind.IDS
    assert member.reads(member.examples[0])
