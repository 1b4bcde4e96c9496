"""Text ↔ token ids.

Every vocabulary has the same first three ids: padding, beginning and end of a sequence. No
symbol may have their labels.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from explorer.core.errors import VocabularyError
from explorer.core.files import one_line

PAD, BOS, EOS = 0, 1, 2
SPECIALS = ("<pad>", "<bos>", "<eos>")

LONGEST_TEXT = 20_000
"""Characters. A longer text is refused before it is split."""

LONGEST_LINKED_TEXT = 2_000
"""Characters of a text in a link; browsers and proxies cut longer links."""

LONGEST_SYMBOL = 16
"""Characters."""

BYTE = re.compile(r"<0x([0-9A-F]{2})>")
"""The label of a byte, of which no character is known."""

_SHOWN = 24
_LONGEST_SUGGESTION = 80  # characters of a text that is repeated in a message
_SEPARATORS = re.compile(r"[\s,;、，；]+")  # between symbols, besides white space by mistake


class Vocabulary(Protocol):
    """A mapping between text and ids, such as `SymbolVocabulary` and `PieceVocabulary`."""

    def __len__(self) -> int: ...

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises `VocabularyError`."""

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of many texts of any length."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, specials dropped."""

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The label of each id."""


def is_chinese(text: str) -> bool:
    """Whether `text` has a Chinese character."""
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


@dataclass(frozen=True, slots=True)
class SymbolVocabulary:
    """Symbols separated by white space; the id of a symbol is its index in `symbols` plus 3.

    symbols: distinct, without white space, 1 to 16 characters each.

    Raises `VocabularyError` on other symbols.
    """

    symbols: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _labels: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.symbols, tuple):
            raise VocabularyError("no_symbols", got=type(self.symbols).__name__)
        for symbol in self.symbols:
            if not isinstance(symbol, str):
                raise VocabularyError("bad_symbol", symbol=shorten(str(symbol)))
            if not 0 < len(symbol) <= LONGEST_SYMBOL or symbol.split() != [symbol]:
                raise VocabularyError("bad_symbol", symbol=shorten(symbol))
        if not self.symbols or len(set(self.symbols) | set(SPECIALS)) != len(self):
            raise VocabularyError("repeated_symbols")
        ids = {symbol: number for number, symbol in enumerate(self.symbols, len(SPECIALS))}
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_labels", SPECIALS + self.symbols)

    def __repr__(self) -> str:
        return f"SymbolVocabulary({len(self.symbols)} symbols: {shorten(self.known())})"

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.symbols)

    def encode(self, text: str) -> list[int]:
        """Ids of the symbols in `text`, without specials.

        Raises `VocabularyError` on anything but a text, and on a text that is empty, longer than
        `LONGEST_TEXT`, or has an unknown symbol.
        """
        check_text(text)
        symbols = text.split()
        if not symbols:
            raise VocabularyError("empty_text", known=self.known())
        for symbol in symbols:
            if symbol not in self._ids:
                self._refuse_beyond(symbol)
                facts = {"symbol": shorten(symbol), "known": self.known()}
                if suggestion := self._spaced(text):
                    raise VocabularyError("symbols_together", **facts, suggestion=suggestion)
                if suggestion := self._spaced(_in_plain_forms(text)):
                    raise VocabularyError("other_form", **facts, suggestion=suggestion)
                raise VocabularyError("unknown_symbol", **facts)
        return [self._ids[symbol] for symbol in symbols]

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of many texts, each as by `encode`."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, specials dropped."""
        return " ".join(self.label(number) for number in ids if number >= len(SPECIALS))

    def label(self, number: int) -> str:
        """The label of one id."""
        return self._labels[number]

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The label of each id."""
        return tuple(map(self._labels.__getitem__, ids))

    def known(self) -> str:
        """The first symbols, for a message."""
        more = " …" if len(self.symbols) > _SHOWN else ""
        return " ".join(self.symbols[:_SHOWN]) + more

    def _refuse_beyond(self, symbol: str) -> None:
        """Raise `VocabularyError` on a number above the last, if the symbols are numbers.

        Only if some have more than one digit, such as the ids of an imported model: there 99 is
        not 9 and 9.
        """
        if not _is_number(symbol) or not all(map(_is_number, self.symbols)):
            return
        last, digits = max(map(int, self.symbols)), symbol.lstrip("0")
        if last > 9 and (len(digits) > LONGEST_SYMBOL or int(digits or "0") > last):
            raise VocabularyError("number_beyond", symbol=shorten(symbol), last=str(last))

    def _spaced(self, text: str) -> str:
        """`text` with spaces between its symbols, if only these are missing, as in "12345" and
        "1, 2"; else "", and "" for a long text."""
        if len(text) > _LONGEST_SUGGESTION:
            return ""
        parts = [self._symbols_in(part) for part in _SEPARATORS.split(text) if part]
        return " ".join(symbol for part in parts for symbol in part) if all(parts) else ""

    def _symbols_in(self, word: str) -> list[str]:
        """The fewest symbols that make up `word`; empty if none do."""
        fewest: list[list[str] | None] = [[], *(None for _ in word)]  # by characters covered
        for start, before in enumerate(fewest):
            if before is None:
                continue
            for end in range(start + 1, min(start + LONGEST_SYMBOL, len(word)) + 1):
                known = fewest[end]
                if word[start:end] in self._ids and (known is None or len(before) + 1 < len(known)):
                    fewest[end] = [*before, word[start:end]]
        return fewest[-1] or []

    def to_json(self) -> dict[str, Any]:
        """The JSON form of the vocabulary that a checkpoint stores."""
        return {"kind": "symbols", "symbols": list(self.symbols)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SymbolVocabulary":
        """The vocabulary that `to_json` described. Raises `VocabularyError`."""
        symbols = data.get("symbols")
        if data.get("kind") != "symbols" or not isinstance(symbols, list):
            raise VocabularyError("foreign_vocabulary", kind=shorten(str(data.get("kind"))))
        return cls(tuple(symbols))


def _is_number(symbol: str) -> bool:
    return symbol.isascii() and symbol.isdigit()


def _in_plain_forms(text: str) -> str:
    """`text` in lower case, with full-width characters and other scripts' digits replaced by
    keyboard ones."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return "".join(str(unicodedata.decimal(character, character)) for character in plain)


TOY_VOCABULARY = SymbolVocabulary(tuple("123456789abcdefg甲乙丙丁"))
"""The 20 symbols of the toy models that ship."""


def check_text(text: str | None) -> None:
    """Raise `VocabularyError` on anything but a text, and on one longer than `LONGEST_TEXT`."""
    if not isinstance(text, str):
        raise VocabularyError("no_text", got=type(text).__name__)
    if len(text) > LONGEST_TEXT:
        raise VocabularyError("text_too_long", characters=len(text), limit=LONGEST_TEXT)


def valid_text(text: str) -> str:
    """`text` with "?" for each lone surrogate, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def shown_label(token: str) -> str:
    """A token as it is shown: a special one without its brackets, a byte in its own."""
    return token[1:-1] if token in (*SPECIALS, "<unk>") else BYTE.sub(r"‹\1›", token)


def shorten(text: str) -> str:
    """`text` for a message: cut, control characters escaped."""
    longest = 2 * LONGEST_SYMBOL
    shown = one_line(text[:longest])
    return shown + "…" if len(text) > longest else shown
