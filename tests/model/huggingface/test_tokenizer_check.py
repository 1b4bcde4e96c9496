"""Tokenizers that do harm: told by a child process, which goes on afterwards."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from explorer.model.huggingface import tokenizer_check
from explorer.model.huggingface.tokenizer_check import Verdict, begin
from tests.support.harmful_tokenizers import HARMFUL


def changed(folder: Path, source: Path, **parts: Any) -> Path:
    """A directory with the tokenizer of `source`, in which some parts are others."""
    folder.mkdir()
    for file in source.glob("tokenizer*"):
        (folder / file.name).write_bytes(file.read_bytes())
    described = json.loads((folder / "tokenizer.json").read_text("utf-8")) | parts
    (folder / "tokenizer.json").write_text(json.dumps(described), "utf-8")
    return folder


def said(folder: Path) -> Verdict:
    return begin(folder).result()


def test_sound_tokenizers_pass(model_folder):
    for folder in model_folder.iterdir():
        assert said(folder) == Verdict.SOUND


@pytest.mark.parametrize("name", HARMFUL)
def test_a_tokenizer_that_does_harm_is_told_and_the_next_one_still_passes(
    name, model_folder, tmp_path
):
    sound = model_folder / "gpt-tiny"
    assert said(changed(tmp_path / "harmful", sound, **HARMFUL[name])) == Verdict.HARMFUL
    assert said(sound) == Verdict.SOUND


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
    assert said(folder) == Verdict.SOUND


def test_what_is_no_tokenizer_cannot_be_read(model_folder, tmp_path):
    sound = model_folder / "gpt-tiny"
    assert said(changed(tmp_path / "odd", sound, model=3)) == Verdict.UNREADABLE
    (tmp_path / "empty").mkdir()
    assert said(tmp_path / "empty") == Verdict.UNREADABLE


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")
def test_a_tokenizer_over_the_limit_of_memory_does_harm(model_folder, monkeypatch):
    monkeypatch.setattr(tokenizer_check, "MOST_MEMORY", 2**20)
    assert said(model_folder / "gpt-tiny") == Verdict.HARMFUL


def test_a_tokenizer_that_asks_for_a_billion_entries_does_harm(tmp_path):
    settings = {"tokenizer_class": "ByT5Tokenizer", "extra_ids": 10**9}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert said(tmp_path) == Verdict.HARMFUL


def test_a_child_that_was_ended_is_started_anew(model_folder):
    tokenizer_check._CHILD.started().kill()
    tokenizer_check._CHILD.started().wait()
    assert said(model_folder / "gpt-tiny") == Verdict.SOUND
