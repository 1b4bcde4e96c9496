"""Text ↔ ids.

Every vocabulary shares the first three ids: padding, beginning, end. Their labels carry angle
brackets, so that no symbol of a text can be mistaken for them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from explorer.core.errors import VocabularyError

PAD, BOS, EOS = 0, 1, 2
SPECIALS = ("<pad>", "<bos>", "<eos>")

LONGEST_TEXT = 20_000
"""Characters. A pasted novel is refused before it is split."""

LONGEST_LINKED_TEXT = 2_000
"""Characters of a text a link may carry; browsers and proxies cut longer ones."""

_LONGEST_SYMBOL = 16
_SHOWN = 24


class Vocabulary(Protocol):
    """What text and ids are to each other; `SymbolVocabulary` and `PieceVocabulary` are two."""

    def __len__(self) -> int: ...

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises `VocabularyError`."""

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of many texts of any length."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, specials dropped."""

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What to show for each id."""


@dataclass(frozen=True, slots=True)
class SymbolVocabulary:
    """Symbols separated by white space; a symbol's id is its place in `symbols`, plus 3.

    `symbols`: distinct, without white space, at most 16 characters each. Raises
    `VocabularyError` otherwise.
    """

    symbols: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _labels: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for symbol in self.symbols:
            if not 0 < len(symbol) <= _LONGEST_SYMBOL or symbol.split() != [symbol]:
                raise VocabularyError("bad_symbol", symbol=shorten(symbol))
        if not self.symbols or len(set(self.symbols) | set(SPECIALS)) != len(self):
            raise VocabularyError("repeated_symbols")
        ids = {symbol: number for number, symbol in enumerate(self.symbols, len(SPECIALS))}
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_labels", SPECIALS + self.symbols)

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.symbols)

    def encode(self, text: str) -> list[int]:
        """Ids of the symbols in `text`, without specials.

        Raises `VocabularyError` when the text is empty, far too long, or holds an unknown
        symbol (the first one is named, the known ones are listed).
        """
        refuse_long(text)
        symbols = text.split()
        if not symbols:
            raise VocabularyError("empty_text", known=self.known())
        for symbol in symbols:
            if symbol not in self._ids:
                raise VocabularyError("unknown_symbol", symbol=shorten(symbol), known=self.known())
        return [self._ids[symbol] for symbol in symbols]

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of many texts, each as `encode` reads it."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, specials dropped."""
        return " ".join(self.label(number) for number in ids if number >= len(SPECIALS))

    def label(self, number: int) -> str:
        """What to show for one id."""
        return self._labels[number]

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What to show for each id."""
        return tuple(map(self._labels.__getitem__, ids))

    def known(self) -> str:
        """The symbols as one readable list."""
        more = " …" if len(self.symbols) > _SHOWN else ""
        return " ".join(self.symbols[:_SHOWN]) + more

    def to_json(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"kind": "symbols", "symbols": list(self.symbols)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SymbolVocabulary":
        """The vocabulary a checkpoint kept. Raises `VocabularyError` on anything else."""
        symbols = data.get("symbols")
        if data.get("kind") != "symbols" or not isinstance(symbols, list):
            raise VocabularyError("foreign_vocabulary", kind=shorten(str(data.get("kind"))))
        return cls(tuple(str(symbol) for symbol in symbols))


CLASSROOM = SymbolVocabulary(tuple("123456789abcdefg甲乙丙丁"))
"""The 20 symbols of the models that ship with the explorer."""


def refuse_long(text: str) -> None:
    """Raise `VocabularyError` when `text` is far too long to be split at all."""
    if len(text) > LONGEST_TEXT:
        raise VocabularyError("text_too_long", characters=len(text), limit=LONGEST_TEXT)


def shorten(text: str) -> str:
    """`text` in a form that fits in one sentence: cut, control characters made visible."""
    longest = 2 * _LONGEST_SYMBOL
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:longest])
    return shown + "…" if len(text) > longest else shown
