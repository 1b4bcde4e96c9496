"""Tokenizers that do harm: told by a child process, which goes on afterwards."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.model.huggingface import tokenizer_check
from explorer.model.huggingface.tokenizer_check import begin
from tests.support.harmful_tokenizers import HARMFUL


def changed(folder: Path, source: Path, **parts: Any) -> Path:
    """A directory with the tokenizer of `source`, in which some parts are others."""
    folder.mkdir()
    for file in source.glob("tokenizer*"):
        (folder / file.name).write_bytes(file.read_bytes())
    described = json.loads((folder / "tokenizer.json").read_text("utf-8")) | parts
    (folder / "tokenizer.json").write_text(json.dumps(described), "utf-8")
    return folder


def said(folder: Path) -> str | None:
    """The key of why a tokenizer is not used."""
    fault = begin(folder).result()
    return None if fault is None else fault.key


def test_sound_tokenizers_pass(model_folder):
    for folder in model_folder.iterdir():
        assert said(folder) is None


@pytest.mark.parametrize("name", HARMFUL)
def test_a_tokenizer_that_does_harm_is_told_and_the_next_one_still_passes(
    name, model_folder, tmp_path
):
    sound = model_folder / "gpt-tiny"
    assert said(changed(tmp_path / "harmful", sound, **HARMFUL[name])) == "harmful_tokenizer"
    assert said(sound) is None


def test_a_tokenizer_that_lacks_most_symbols_passes(model_folder, tmp_path):
    """A text with one of them is refused when it comes; a toy model that was exported is such."""
    few = {"type": "WordLevel", "vocab": {"7": 0, "3": 1, "9": 2}, "unk_token": "<none>"}
    sound = model_folder / "gpt-tiny"
    parts = {
        **{"model": few, "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None},
        **{"post_processor": None, "added_tokens": []},
    }
    folder = changed(tmp_path / "few", sound, **parts)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    assert said(folder) is None


def test_what_is_no_tokenizer_cannot_be_read(model_folder, tmp_path):
    sound = model_folder / "gpt-tiny"
    assert said(changed(tmp_path / "odd", sound, model=3)) == "no_tokenizer"
    (tmp_path / "empty").mkdir()
    assert said(tmp_path / "empty") == "no_tokenizer"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")
def test_a_tokenizer_over_the_limit_of_memory_does_harm(tmp_path, monkeypatch):
    """Its entries take more than the child may have to spare, whatever was freed before."""
    vocabulary = {f"word {number}": number for number in range(200_000)}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "word 0"}
    described = {"version": "1.0", "added_tokens": [], "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "word 0"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert said(tmp_path) is None
    monkeypatch.setattr(tokenizer_check, "MOST_MEMORY", 2**20)
    assert said(tmp_path) == "harmful_tokenizer"


def test_a_tokenizer_that_asks_for_a_billion_entries_does_harm(tmp_path):
    settings = {"tokenizer_class": "ByT5Tokenizer", "extra_ids": 10**9}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert said(tmp_path) == "harmful_tokenizer"


def test_a_child_that_was_ended_is_started_anew(model_folder):
    child = tokenizer_check._CHILD.started()
    child.kill()
    child.wait()
    assert said(model_folder / "gpt-tiny") is None


def processor_seconds_of(folder: Path) -> float:
    """Of the copies of the child, once the tokenizer is told as one that does harm."""
    stat = Path(f"/proc/{tokenizer_check._CHILD.started().pid}/stat")

    def of_copies() -> int:
        return sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[13:15]))

    assert said(folder.parent) == "no_tokenizer"  # the copies before it are counted by now
    before = of_copies()
    assert said(folder) == "harmful_tokenizer"
    assert said(folder.parent) == "no_tokenizer"
    return (of_copies() - before) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_slow_step_is_told_before_a_large_vocabulary_is_read(model_folder, tmp_path):
    """Reading the vocabulary would take all the time that files of this size may take."""
    sound = model_folder / "gpt-tiny"
    model = json.loads((sound / "tokenizer.json").read_text("utf-8"))["model"]
    model["vocab"] |= {f"word{number}": 1000 + number for number in range(400_000)}
    folder = changed(tmp_path / "slow", sound, model=model, **HARMFUL["slow"])
    allowed = tokenizer_check._Limits.of(folder)
    assert allowed.seconds > 3
    assert processor_seconds_of(folder) < allowed.seconds_to_count + 0.5 < 2
