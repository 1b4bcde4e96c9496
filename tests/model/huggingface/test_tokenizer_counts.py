"""Files of a tokenizer with too many entries, and what is left of tokenizer.json without them."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface import tokenizer_counts
from explorer.model.huggingface.tokenizer_counts import as_json, steps_within
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.model.opening import load

ADDED = {
    "tokenizer.json": lambda tokens: {"added_tokens": [{"content": one} for one in tokens]},
    "tokenizer_config.json": lambda tokens: {
        "added_tokens_decoder": {str(number): {"content": one} for number, one in enumerate(tokens)}
    },
    "special_tokens_map.json": lambda tokens: {"additional_special_tokens": tokens},
    "added_tokens.json": lambda tokens: {one: number for number, one in enumerate(tokens)},
}
LINES = {
    "tokenizer.json": lambda count: {"model": {"merges": [["a", "b"]] * count}},
    "vocab.json": lambda count: {str(number): number for number in range(count)},
}


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(tokenizer_counts, "MOST_ADDED", 20)
    monkeypatch.setattr(tokenizer_counts, "MOST_ENTRIES", 30)


def refused(folder: Path, file: str, contents: Any) -> tuple[str, str, str] | None:
    """The key, file and count that a message names; None where nothing is refused."""
    text = contents if isinstance(contents, bytes) else json.dumps(contents).encode()
    (folder / file).write_bytes(text)
    try:
        steps_within(folder)
    except ModelDirectoryError as error:
        return error.key, str(error.facts["file"]), str(error.facts["got"])
    return None


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("file", ADDED)
def test_added_tokens_are_counted_in_each_file_that_lists_them(file, tmp_path):
    tokens = [f"<{number}>" for number in range(21)]
    assert refused(tmp_path, file, ADDED[file](tokens[:20])) is None
    assert refused(tmp_path, file, ADDED[file](tokens)) == ("many_added_tokens", file, "21")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("file", LINES)
def test_entries_and_merges_are_counted(file, tmp_path):
    assert refused(tmp_path, file, LINES[file](30)) is None
    assert refused(tmp_path, file, LINES[file](31)) == ("many_entries", file, "31")


@pytest.mark.usefixtures("few")
def test_lines_and_pieces_are_counted(tmp_path):
    assert refused(tmp_path, "vocab.txt", b"word\n" * 30) is None
    assert refused(tmp_path, "vocab.txt", b"word\n" * 31) == ("many_entries", "vocab.txt", "31")
    (tmp_path / "vocab.txt").unlink()
    piece = b"\x0a\x08\x0a\x01a\x15\x00\x00\x00\x00"  # of a SentencePiece model
    assert refused(tmp_path, "spiece.model", piece * 30) is None
    assert refused(tmp_path, "spiece.model", piece * 31) == ("many_entries", "spiece.model", "31")


def test_what_is_left_of_a_file_is_its_steps_with_their_text(tmp_path):
    step = {"type": "Replace", "pattern": {"String": "é▁🙂\n"}, "content": "\u00a0"}
    contents = {"normalizer": step, "model": {"vocab": {"é": 0}}, "added_tokens": [{"id": 1}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(contents, ensure_ascii=False), "utf-8")
    assert json.loads(as_json(steps_within(tmp_path))) == {"normalizer": step}


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "3", '{"model": 3, "added_tokens": 4}'])
def test_what_is_no_tokenizer_is_left_to_the_library(text, tmp_path):
    (tmp_path / "tokenizer.json").write_text(text)
    assert steps_within(tmp_path) == {}


@pytest.mark.parametrize("last", ["abc", "a b c", ["a"], ["a", "b", "c"], 3, None])
@pytest.mark.parametrize("pair", ["a b", ["a", "b"]])
def test_a_merge_of_other_than_two_is_found_before_the_library_builds_anything(
    pair, last, tmp_path
):
    for merges, is_sound in (([pair] * 3, True), ([pair] * 3 + [last], False), ([], True)):
        contents = {"model": {"vocab": {"a": 0}, "merges": merges}}
        (tmp_path / "tokenizer.json").write_text(json.dumps(contents))
        with nullcontext() if is_sound else pytest.raises(ValueError, match="no pair"):
            assert steps_within(tmp_path) == {}


def test_a_model_with_too_many_added_tokens_goes_on_by_ids(model_folder, tmp_path):
    """The limit is that of the child process here."""
    for file in (model_folder / "gpt-tiny").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tokens = {f"<{number}>": 100 + number for number in range(tokenizer_counts.MOST_ADDED + 1)}
    (tmp_path / "added_tokens.json").write_text(json.dumps(tokens))
    model = load(str(tmp_path))
    assert isinstance(model, HuggingFaceModel)
    assert [str(note) for note in model.notes] == [
        f"The tokenizer in “{tmp_path.name}” is not used: added_tokens.json has 70,001 added "
        "tokens; at most 70,000 are read. The model goes on by ids, such as “5 17 8”."
    ]
