"""Check whether a tokenizer belongs to a model, by its entries and the config."""

from collections.abc import Mapping
from typing import Any

from explorer.core.errors import ModelDirectoryError
from explorer.core.vocabulary import shorten
from explorer.model.huggingface.tokens import is_usable

LEAST_SHARE = 0.9
"""Least share of the embeddings that have entries in the tokenizer. Models are padded to round
numbers of embeddings; the widest known gap, 51,200 for 50,295 entries, is 1.8 %."""

_UNSET = {1, 2}
"""What configs of Bloom and falcon-rw say where nobody set the special tokens."""

_NEARLY_ALL = 0.99  # of the embeddings have entries: no reason for doubt beside `_UNSET`

_SHOWN = 6  # entries in a message
_ROLES = ("bos", "eos", "pad", "decoder_start", "cls", "sep")


def fitting(
    tokenizer: Any, described: Mapping[str, Any], size: int, name: str
) -> tuple[Any, list[ModelDirectoryError]]:
    """The tokenizer, or None if it has no entries, so that texts are lists of ids; and notes.

    described: the model's config. size: number of embeddings. name: the directory's, for a note.

    Raises `ModelDirectoryError` if it is another model's.
    """
    if not is_usable(tokenizer):
        return None, [ModelDirectoryError("empty_tokenizer", name=name)]
    notes = (surplus(tokenizer, size), doubt(tokenizer, described, size))
    return tokenizer, [note for note in notes if note is not None]


def surplus(tokenizer: Any, size: int) -> ModelDirectoryError | None:
    """Note on tokenizer entries without an embedding in the model, or None without such entries.

    size: number of embeddings.

    Special and added tokens may lack one: they come after the vocabulary, and the model may have
    been trained without them. A single entry of any kind may lack one, too. Several ordinary pieces
    without one mean that the vocabulary is another model's: raises `ModelDirectoryError`.
    """
    beyond = {number: entry for entry, number in tokenizer.get_vocab().items() if number >= size}
    if not beyond:
        return None
    if len(beyond) > 1 and beyond.keys() - _specials(tokenizer):
        entries = size + len(beyond)
        raise ModelDirectoryError("other_tokenizer", entries=entries, size=size)
    shown = [shorten(beyond[number]) for number in sorted(beyond)[:_SHOWN]]
    names = ", ".join(shown) + (" …" if len(beyond) > _SHOWN else "")
    return ModelDirectoryError("surplus_entries", count=len(beyond), names=names)


def doubt(tokenizer: Any, described: Mapping[str, Any], size: int) -> ModelDirectoryError | None:
    """Note that a tokenizer may be another model's, or None without a reason for doubt.

    Reasons are too few entries, and the ids of special tokens in the config: all of them must be
    entries, and not all may be ordinary pieces. Some usually differ from the tokenizer's own roles,
    because chats end differently from texts.

    described: config.json. size: number of embeddings.
    """
    entries = set(tokenizer.get_vocab().values())
    if len(entries) < LEAST_SHARE * size:
        return ModelDirectoryError("small_tokenizer", entries=len(entries), size=size)
    named = {number for number in _named(described) if 0 <= number < size}
    absent = sorted(named - entries)
    if absent:
        return ModelDirectoryError("absent_specials", ids=", ".join(map(str, absent)))
    unset = named <= _UNSET and len(entries) >= _NEARLY_ALL * size
    if named and not unset and not named & _specials(tokenizer):
        spell = tokenizer.convert_ids_to_tokens
        spelled = [f"{number}: {shorten(str(spell(number)))}" for number in sorted(named)]
        return ModelDirectoryError("ordinary_specials", ids=", ".join(spelled))
    return None


def _named(described: Mapping[str, Any]) -> set[int]:
    """The ids of special tokens in a config; a role may have several."""
    found = [described.get(f"{role}_token_id") for role in _ROLES]
    lists = [one if isinstance(one, list) else [one] for one in found]
    return {number for one in lists for number in one if isinstance(number, int)}


def _specials(tokenizer: Any) -> set[int]:
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return {*tokenizer.all_special_ids, *added}
