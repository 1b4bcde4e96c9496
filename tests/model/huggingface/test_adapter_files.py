"""Directories of adapters, read without the library: what they are, and where their base is."""

import json

import huggingface_hub.constants
import pytest

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.adapter_files import Adapter


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def adapter(folder, base="an-owner/base", weights="adapter_model.safetensors", **described):
    folder.mkdir(parents=True)
    told = {"peft_type": "LORA", "base_model_name_or_path": base, "task_type": "CAUSAL_LM"}
    (folder / "adapter_config.json").write_text(json.dumps(told | described))
    if weights:
        (folder / weights).write_bytes(b"weights")
    return Adapter.within(folder)


def model(folder):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_an_adapter_is_told_from_a_whole_model(tmp_path):
    found = adapter(tmp_path / "lora")
    assert (found.kind, found.task, found.base) == ("LoRA", "CAUSAL_LM", "an-owner/base")
    assert found.weights.name == "adapter_model.safetensors"
    assert Adapter.within(tmp_path) is None
    whole = model(tmp_path / "whole")
    (whole / "adapter_config.json").write_text("{}")
    assert Adapter.within(whole) is None
    (whole / "model.safetensors").unlink()
    assert Adapter.within(whole).kind == "PEFT"
    assert Adapter.within(tmp_path / "nothing") is None


def test_the_base_is_looked_for_where_it_is_named_beside_it_and_in_the_cache(
    tmp_path, cache, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    found = adapter(tmp_path / "some" / "lora")
    assert found.base_directory() is None
    cached = model(cache / "models--an-owner--base" / "snapshots" / "4f3a")
    assert found.base_directory() == cached
    for place in ("some/an-owner--base", "some/base"):
        assert model(tmp_path / place) == found.base_directory()
    at_path = model(tmp_path / "an-owner" / "base")
    assert found.base_directory().resolve() == at_path
    for number, base in enumerate(("", "..", "/", "a\x00b", "no/such/base")):
        assert adapter(tmp_path / "odd" / str(number), base).base_directory() is None


def test_a_base_in_the_same_cache_is_found(tmp_path):
    other = tmp_path / "other cache"
    base = model(other / "models--an-owner--base" / "snapshots" / "22")
    assert adapter(other / "models--x--lora" / "snapshots" / "11").base_directory() == base


@pytest.mark.parametrize(
    ("described", "key", "word"),
    [
        ({"peft_type": "IA3"}, "other_adapter", "IA3"),
        ({"peft_type": "PREFIX_TUNING"}, "other_adapter", "PREFIX_TUNING"),
        ({"task_type": "SEQ_CLS"}, "adapter_task", "SEQ_CLS"),
        ({"weights": ""}, "no_adapter_weights", "adapter_model.safetensors"),
    ],
)
def test_what_cannot_be_merged_is_refused_by_name(described, key, word, tmp_path):
    found = adapter(tmp_path / "odd", **described)
    with pytest.raises(ModelDirectoryError) as caught:
        found.refuse()
    assert caught.value.key == key
    for text in (str(caught.value), caught.value.in_language("zh")):
        assert all(part in text for part in (word, "“odd”", "“an-owner/base”"))
    for task in ("SEQ_2_SEQ_LM", None):
        adapter(tmp_path / f"plain{task}", task_type=task, weights="adapter_model.bin").refuse()
