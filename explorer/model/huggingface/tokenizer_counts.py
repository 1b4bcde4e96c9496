"""Number of entries in the files of a tokenizer, counted before the library builds them: building
an entry takes it more time and memory than reading one takes here."""

import json
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Any

from explorer.core.errors import ModelDirectoryError
from explorer.core.files import opened, printable
from explorer.model.huggingface.directory_files import tokenizer_among

MOST_ADDED = 70_000
"""Added tokens of a file. Gemma has 6,400; language models that write speech have 65,800."""

MOST_ENTRIES = 1_200_000
"""Entries of a vocabulary, merges, or lines of a file; XLM-V has 902,000 entries."""

_FILE = "tokenizer.json"
_ADDED = {
    _FILE: ("added_tokens",),
    "tokenizer_config.json": (
        "added_tokens_decoder",
        "additional_special_tokens",
        "extra_special_tokens",
    ),
    "special_tokens_map.json": ("additional_special_tokens", "extra_special_tokens"),
}
"""File → its fields that list added tokens; all of `added_tokens.json` is such a list."""

_CHUNK = 2**20  # bytes


def steps_within(path: Path) -> dict[str, Any]:
    """`tokenizer.json` of a directory without its vocabulary and added tokens; {} if it is missing
    or unreadable.

    Raises `ModelDirectoryError` if a file of the tokenizer has more than `MOST_ADDED` added tokens
    or more than `MOST_ENTRIES` of anything else, and `ValueError` on a merge that is not a pair.
    """
    steps: dict[str, Any] = {}
    for name in [*tokenizer_among(file.name for file in path.iterdir()), "added_tokens.json"]:
        file = path / name
        if not file.is_file():
            continue
        for key, count, limit in _counts(file, steps):
            if count > limit:
                counts = {"got": f"{count:,}", "limit": f"{limit:,}"}
                raise ModelDirectoryError(key, name=path.name, file=printable(name), **counts)
    return steps


def as_json(steps: dict[str, Any]) -> str:
    """Result of `steps_within` as JSON, with the text restored as in the file."""
    raw = json.dumps(steps, ensure_ascii=False).encode("latin-1", "backslashreplace")
    return raw.decode("utf-8", "replace")


def _counts(file: Path, steps: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """(message key, count, limit) for each kind of entry in a file.

    The rest of `tokenizer.json` is added to `steps`.
    """
    if file.suffix != ".json":
        lines = _line_ends(file)
        yield "many_entries", lines if file.suffix == ".txt" else lines // 2, MOST_ENTRIES
        return
    described = _object(file)
    for name in _ADDED.get(file.name, ()):
        yield "many_added_tokens", _size(described.pop(name, None)), MOST_ADDED
    if file.name == "added_tokens.json":
        yield "many_added_tokens", len(described), MOST_ADDED
    if file.name == _FILE:
        model = described.pop("model", None)
        model = model if isinstance(model, dict) else {}
        vocabulary, merges = model.get("vocab"), model.get("merges")
        yield "many_entries", _size(vocabulary), MOST_ENTRIES
        yield "many_entries", _size(merges), MOST_ENTRIES
        if isinstance(merges, list):
            _check_merges(merges)
        steps |= described
    elif file.name.startswith("vocab"):
        yield "many_entries", len(described), MOST_ENTRIES


def _check_merges(merges: list[Any]) -> None:
    """Raise `ValueError` if a merge is not a pair, such as ["a", "b"] or "a b". The library would
    find that only after it has built all earlier ones."""
    kinds = set(map(type, merges))
    parts = {one.count(" ") + 1 for one in merges} if kinds == {str} else set()
    if kinds == {list}:
        parts = set(map(len, merges))
    if merges and parts != {2}:
        raise ValueError("an entry of the merges is no pair")


def _line_ends(file: Path) -> int:
    """Number of bytes of value 10 in a file: its lines; in a SentencePiece model at least two for
    each piece."""
    with opened(file) as stream:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(_CHUNK), b""))


def _object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; {} if the file holds anything else: the library then says why.

    Each byte is read as a letter of Latin-1. That takes a quarter of the memory of text with signs
    such as 🙂, and changes no count. `as_json` restores the text.
    """
    try:
        with opened(file) as stream:
            text = stream.read().decode("latin-1")
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _size(value: Any) -> int:
    return len(value) if isinstance(value, Sized) and not isinstance(value, str) else 0
