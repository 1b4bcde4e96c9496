"""Whether a tokenizer belongs to a model, as far as its entries and the config tell."""

from collections.abc import Mapping
from typing import Any

from explorer.core.errors import ModelDirectoryError
from explorer.core.vocabulary import shorten

LEAST_SHARE = 0.9
"""Of the embeddings that a tokenizer has entries for. Models are padded to round numbers of
embeddings; the widest known gap, 51,200 for 50,295 entries, is 1.8 %."""

_SHOWN = 6  # entries in a message
_ROLES = ("bos", "eos", "pad", "decoder_start", "cls", "sep")


def fit_notes(tokenizer: Any, described: Mapping[str, Any], size: int) -> list[ModelDirectoryError]:
    """Notes on how a tokenizer fits a model: of `surplus` and `doubt`.

    Raises `ModelDirectoryError` where it is another model's.
    """
    notes = (surplus(tokenizer, size), doubt(tokenizer, described, size))
    return [note for note in notes if note is not None]


def surplus(tokenizer: Any, size: int) -> ModelDirectoryError | None:
    """A note on entries of a tokenizer that a model has no embeddings for; None without such.

    size: number of embeddings. Special and added tokens may be among them: they are put behind a
    vocabulary, and a model that was trained without them has none for them. So may one entry,
    whatever it is. Several ordinary pieces are of a vocabulary that the model never had.

    Raises `ModelDirectoryError`.
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
    """Why a tokenizer that has few enough entries may be another model's, for a note; None where
    nothing says so.

    described: config.json. Ids of special tokens that the config names must be entries, and not
    all of them ordinary pieces. That some differ from the tokenizer's own roles is usual: chats
    end otherwise than texts.
    """
    entries = set(tokenizer.get_vocab().values())
    if len(entries) < LEAST_SHARE * size:
        return ModelDirectoryError("small_tokenizer", entries=len(entries), size=size)
    named = {number for number in _named(described) if 0 <= number < size}
    absent = sorted(named - entries)
    if absent:
        return ModelDirectoryError("absent_specials", ids=", ".join(map(str, absent)))
    if named and not named & _specials(tokenizer):
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
