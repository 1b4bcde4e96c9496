"""Text ↔ ids with the tokenizer of a directory, and labels that a person can read.

A label is the text at the offsets of a token, so "naïve" stays "naïve" even if the tokenizer drops
accents. "▁" marks the first piece of a word, whatever the tokenizer writes: ▁, Ġ, a space, or
nothing, if it marks the end of a word by </w>, or continuation by ## or @@. Only a WordPiece piece
outside a text keeps its "##". Bytes that are not a character alone are written "<0xE4>".

Special and added tokens are words of their own, with or without a space beside them: such a token
and the piece after it have the "▁", too, where `word_segmentation` would join them to what is
before.

If files are missing, the library builds a tokenizer without entries. That is detected, and the
model is used without a tokenizer: its texts are then ids, separated by spaces.
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

from explorer.core.errors import ConfigError, VocabularyError
from explorer.core.number_format import typed_number
from explorer.core.sentencepiece_vocabulary import byte_label
from explorer.core.vocabulary import check_text, shorten
from explorer.core.word_segmentation import PADDING_LABELS, byte_letters, is_special
from explorer.model.huggingface.chat_template import Message, chat_text, has_template
from explorer.model.huggingface.text_languages import bare, languages_of

_MARKS = {  # way of marking words → whether a piece is marked that way
    "start": lambda piece: piece.startswith("▁"),
    "byte": lambda piece: piece.startswith("Ġ"),
    "inside": lambda piece: piece.startswith("##") and piece != "##",
    "end": lambda piece: piece.endswith("</w>") and piece != "</w>",
    "joined": lambda piece: piece.endswith("@@") and piece != "@@",
}
_BYTES = frozenset(map(chr, range(256)))
"""The pieces of a tokenizer of single bytes, such as ByT5's."""

_VISIBLE = str.maketrans({" ": "␣", "\n": "⏎", "\r": "⏎", "\t": "⇥"})


@dataclass(frozen=True)
class TextTokens:
    """One text or two texts as tokens.

    ids: S of them, specials included, without padding.
    spans: of each token, the first character and the one after its last, in the token's own text;
        empty if the tokenizer gives no offsets.
    texts: one or two.
    second: position of the first token of the second text; None for one text.
    segments: of each token of two texts, as the tokenizer numbers them; None without such numbers.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    second: int | None = None
    segments: tuple[int, ...] | None = None

    def spelled(self, start: int, stop: int) -> str:
        """Text of the tokens from `start` to `stop` − 1; their labels if they cover no text."""
        places = [(first, last) for first, last in self.spans[start:stop] if last > first]
        text = self.texts[-1] if self.second is not None and start >= self.second else self.texts[0]
        return text[places[0][0] : places[-1][1]] if places else " ".join(self.labels[start:stop])


@dataclass(frozen=True)
class Tokens:
    """The tokens of one model.

    tokenizer: the library's; None if texts are lists of ids.
    size: number of embeddings, so ids are 0 to `size` − 1.
    language: code of the source language; None = the tokenizer's own, and always None without
        `languages`.
    name: of the model, for messages.
    """

    tokenizer: Any
    size: int
    language: str | None = None
    name: str = ""
    _lock: Any = field(default_factory=Lock, repr=False, compare=False)

    @cached_property
    def languages(self) -> Mapping[str, int]:
        """Code → id, as `languages_of`; empty without a tokenizer."""
        return {} if self.tokenizer is None else languages_of(self.tokenizer, self.size)

    @cached_property
    def source_language(self) -> str | None:
        """Code of the language that texts are read in, or None without one."""
        if not self.languages or self.language is not None:
            return self.language
        with self._lock:
            own = self.tokenizer.src_lang
        return bare(own) if isinstance(own, str) else None

    def in_language(self, code: str) -> "Tokens":
        """The same tokens, sharing the tokenizer, for the language `code` of `languages`."""
        return replace(self, language=code)

    @property
    def chats(self) -> bool:
        """Whether the tokenizer has a template for messages."""
        return self.tokenizer is not None and has_template(self.tokenizer)

    def source(self, text: str) -> tuple[list[int], tuple[str, ...]]:
        """Ids of `text` with the model's own specials, and their labels; raises as `read` does."""
        found = self.read(text)
        return list(found.ids), found.labels

    def chat(self, messages: Sequence[Message]) -> "TextTokens":
        """The tokens of messages in the model's template, which writes the specials itself.

        Raises the errors of `read` and `chat_text`.
        """
        if self.tokenizer is None:
            raise ConfigError("no_chat_template")
        return self.read(chat_text(self.tokenizer, messages), specials=False)

    def read(self, text: str, pair: str | None = None, *, specials: bool = True) -> "TextTokens":
        """The tokens of a text, or of a text and a second one.

        specials: add the model's own; False = only those written in the text.

        Raises `VocabularyError` on an empty text, one of which the tokenizer makes no token, and
        on ids that the model does not have, and `ConfigError` on a second text if the tokenizer
        cannot join two.
        """
        check_text(text)
        if pair is not None:
            check_text(pair)
        if self.tokenizer is None:
            if pair is not None:
                raise ConfigError("no_pair")
            ids = self._numbers(text)
            return TextTokens(tuple(ids), self.labels(ids), (), (text,))
        fast = bool(self.tokenizer.is_fast)
        joined: dict[str, Any] = {}
        if pair is not None:
            joined = {"text_pair": pair, "return_token_type_ids": True}
        joined |= {} if specials else {"add_special_tokens": False}
        encoded = self._encoded(text, text=text, return_offsets_mapping=fast, **joined)
        ids = list(encoded["input_ids"])
        words = set(ids) - self.special_ids
        if (not words and not text.strip()) or (pair is not None and not pair.strip()):
            raise VocabularyError("empty_sentence")
        texts = (text,) if pair is None else (text, pair)
        if not words or pair is not None:  # else some id is of the text
            self._refuse_without_tokens(texts)
        self._refuse_unknown(ids)
        second = None if pair is None else _second(encoded, fast=fast)
        spans = encoded["offset_mapping"] if fast else [(0, 0)] * len(ids)
        spelled = []
        for own, places in _by_text(texts, spans, second):
            starts = {start for start, stop in places if stop > start}
            spelled += [_Spelled.at(own, start, stop, starts) for start, stop in places]
        types = encoded.get("token_type_ids") if pair is not None else None
        return TextTokens(
            tuple(ids),
            self._labels(ids, spelled),
            tuple((start, stop) for start, stop in spans) if fast else (),
            texts,
            second,
            None if types is None else tuple(types),
        )

    def target(self, text: str) -> list[int]:
        """Ids of an output, with only the specials written in `text`; raises as `source` does."""
        check_text(text)
        if self.tokenizer is None:
            return self._numbers(text)
        encoded = self._encoded(text, text_target=text, add_special_tokens=False)
        ids = list(encoded["input_ids"])
        if not ids:
            raise self._no_token(text) if text.strip() else VocabularyError("empty_sentence")
        self._refuse_unknown(ids)
        return ids

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The labels of consecutive ids."""
        return self._labels(ids, [_Spelled()] * len(ids))

    def label(self, number: int) -> str:
        """The label of one id on its own."""
        return self.labels([number])[0]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, without specials and without ids that are not tokenizer entries."""
        if self.tokenizer is None:
            return " ".join(map(str, ids))
        known = [number for number in ids if number in self._entries]
        with _reported(" ".join(map(str, ids))):
            return str(self.tokenizer.decode(known, skip_special_tokens=True)).strip()

    @property
    def mask_id(self) -> int | None:
        """The id of the mask token, for models that fill in masks."""
        return None if self.tokenizer is None else self.tokenizer.mask_token_id

    @property
    def pad_id(self) -> int | None:
        return None if self.tokenizer is None else self.tokenizer.pad_token_id

    @property
    def separator(self) -> str | None:
        """The token between two texts, or None if the tokenizer has none."""
        return None if self.tokenizer is None else self.tokenizer.sep_token

    def padding_label(self, number: int) -> str:
        """Label of padding with this id: the tokenizer's own if it is in `PADDING_LABELS`, else the
        first of these."""
        own = self.label(number) if number == self.pad_id else ""
        return own if own in PADDING_LABELS else PADDING_LABELS[0]

    @cached_property
    def marks(self) -> str:
        """Way of marking words: a key of `_MARKS`, "utf8" for a tokenizer of bytes, or ""."""
        vocabulary = self.tokenizer.get_vocab()
        pieces = {piece for piece, number in vocabulary.items() if number not in self.special_ids}
        if pieces == _BYTES:
            return "utf8"
        counts = {name: sum(map(test, pieces)) for name, test in _MARKS.items()}
        name, count = max(counts.items(), key=lambda one: one[1])
        return name if count else ""

    @cached_property
    def word_mark(self) -> str:
        """Mark of labels at the beginning of a word: "▁", or "" if the tokenizer marks no words."""
        return "▁" if self.tokenizer is not None and self.marks else ""

    def named(self, *names: str) -> frozenset[int]:
        """The ids that the tokenizer has under names such as "eos_token_id"."""
        found = (getattr(self.tokenizer, name, None) for name in names)
        return frozenset(number for number in found if isinstance(number, int))

    @property
    def no_text(self) -> frozenset[int]:
        """Ids of special tokens that stand for no text: all but the unknown and the mask token."""
        if self.tokenizer is None:
            return frozenset()
        return self.special_ids - {self.tokenizer.unk_token_id, self.tokenizer.mask_token_id}

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids of special tokens; empty without a tokenizer."""
        if self.tokenizer is None:
            return frozenset()
        added = getattr(self.tokenizer, "added_tokens_decoder", {})
        special = {number for number, token in added.items() if token.special}
        return frozenset(special | set(self.tokenizer.all_special_ids))

    @cached_property
    def _apart(self) -> frozenset[int]:
        """Ids of the tokens that are words of their own: special and added ones, but the unknown
        token, which replaces letters of a word."""
        added = frozenset(getattr(self.tokenizer, "added_tokens_decoder", {}))
        return (self.special_ids | added) - {self.tokenizer.unk_token_id}

    @cached_property
    def _entries(self) -> frozenset[int]:
        """Ids of the tokenizer's entries. Many models have embeddings beyond them; some tokenizers
        raise on those."""
        return frozenset(self.tokenizer.get_vocab().values())

    def _encoded(self, shown: str, **options: Any) -> Any:
        """The tokenizer's output for a text. Raises `VocabularyError` if the tokenizer fails."""
        with _reported(shown), self._in_language():  # for example without an unknown token
            return self.tokenizer(**options, return_attention_mask=False)

    @contextmanager
    def _in_language(self) -> Iterator[None]:
        """Set the language of the shared tokenizer in the block, and restore it afterwards.

        One thread at a time.

        Without an output language some tokenizers read no output, so one is set if missing; the ids
        of a text do not depend on which.
        """
        if not self.languages:
            yield
            return
        shared = self.tokenizer
        with self._lock:
            own = shared.src_lang, shared.tgt_lang
            try:
                shared.src_lang = own[0] if self.language is None else self._written(self.language)
                shared.tgt_lang = own[1] or self._written(next(iter(self.languages)))
                yield
            finally:
                shared.src_lang, shared.tgt_lang = own

    def _written(self, code: str) -> str:
        """A code in the spelling of the tokenizer."""
        listed = getattr(self.tokenizer, "lang_code_to_id", None) or {}
        return f"__{code}__" if f"__{code}__" in listed else code

    def _numbers(self, text: str) -> list[int]:
        parts = text.split()
        ids = [number for part in parts if (number := typed_number(part)) is not None]
        if not parts or len(ids) < len(parts):
            raise VocabularyError("not_ids", text=shorten(text), last=self.size - 1)
        self._refuse_unknown(ids)
        return ids

    def _refuse_without_tokens(self, texts: Sequence[str]) -> None:
        """Raise `VocabularyError` on a text that gets no id but the model's own specials, such as
        letters that a BPE without an unknown token drops."""
        for text in texts:
            if not self._encoded(text, text=text, add_special_tokens=False)["input_ids"]:
                raise self._no_token(text)

    def _no_token(self, text: str) -> VocabularyError:
        return VocabularyError("makes_no_token", name=self.name, text=shorten(text))

    def _refuse_unknown(self, ids: Sequence[int]) -> None:
        beyond = max(ids, default=0)
        if beyond < self.size:
            return
        if self.tokenizer is None:
            raise VocabularyError("id_too_large", got=beyond, last=self.size - 1)
        token = shorten(str(self.tokenizer.convert_ids_to_tokens(beyond)))
        raise VocabularyError("no_embedding", token=token, got=beyond, last=self.size - 1)

    def _labels(self, ids: Sequence[int], spelled: Sequence["_Spelled"]) -> tuple[str, ...]:
        if self.tokenizer is None:
            return tuple(map(str, ids))
        convert = self.tokenizer.convert_ids_to_tokens
        pieces = [convert(number) if number in self._entries else None for number in ids]
        labels: list[str] = []
        begins, apart = True, False  # apart: whether the token before is a word of its own
        unknown = self.tokenizer.unk_token_id
        for number, piece, place in zip(ids, pieces, spelled, strict=True):
            follows, apart = apart, number in self._apart
            if number == unknown and place.text:  # it replaces letters of a word
                label = ("▁" if place.after_space else "") + str(piece)
            elif number in self.special_ids or piece is None:
                label, begins = str(number) if piece is None else str(piece), True
            elif apart:
                label, begins = _visible(place.text.strip() or str(piece)), True
            else:
                label, begins = _label(str(piece), place, self.marks, begins)
            if (apart or follows) and self.marks and _joins(label, labels):
                label = f"▁{label}"
            labels.append(label)
        return tuple(labels)


@contextmanager
def _reported(shown: str) -> Iterator[None]:
    """Raise `VocabularyError`, with the text `shown`, if the tokenizer fails in the block.

    That includes panics in Rust, which are not an `Exception`.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise VocabularyError("not_tokenized", text=shorten(shown)) from error


def _second(encoded: Any, *, fast: bool) -> int:
    """Position of the first token of the second text. Raises `ConfigError` if the tokenizer cannot
    join two texts."""
    of_text = encoded.sequence_ids(0) if fast else encoded.get("token_type_ids", ())
    if 0 not in of_text or 1 not in of_text:
        raise ConfigError("no_pair")
    return int(list(of_text).index(1))


def _by_text(
    texts: Sequence[str], spans: Sequence[tuple[int, int]], second: int | None
) -> list[tuple[str, Sequence[tuple[int, int]]]]:
    """Each text with the spans of its tokens; second: as in `TextTokens`."""
    if second is None:
        return [(texts[0], spans)]
    return [(texts[0], spans[:second]), (texts[1], spans[second:])]


@dataclass(frozen=True, slots=True)
class _Spelled:
    """The text of a token, "" if unknown, and whether it follows a space or begins the text."""

    text: str = ""
    after_space: bool = False

    @classmethod
    def at(cls, text: str, start: int, stop: int, starts: Container[int]) -> "_Spelled":
        """The text from `start` to `stop`, with accents after it that the tokenizer drops.

        starts: first characters of all tokens.
        """
        while start < stop < len(text) and unicodedata.combining(text[stop]) and stop not in starts:
            stop += 1
        return cls(text[start:stop], start == 0 or text[start - 1].isspace())


def _label(piece: str, spelled: _Spelled, marks: str, begins: bool) -> tuple[str, bool]:
    """The label of a piece, and whether a word begins after it.

    begins: whether a word begins with this piece, for tokenizers that mark the end of a word.
    """
    text = spelled.text
    match marks:
        case "start":
            plain = piece.removeprefix("▁")
            text = byte_label(plain) if _is_byte(plain) else plain and (text or plain)
            return _marked(piece.startswith("▁"), text), False
        case "byte":
            raw = _raw(piece)
            if raw == b" ":
                return "▁", False
            marked = raw.startswith(b" ") and raw.strip() != b""
            return _marked(marked, _spelling(raw, text)), False
        case "utf8":
            plain = "▁" if piece == " " else _visible(piece)
            return plain if piece.isascii() else f"<0x{ord(piece):02X}>", False
        case "inside":
            if text:
                return _marked(spelled.after_space, text), False
            return _visible(piece), False
        case "end":
            plain = piece.removesuffix("</w>")
            return _marked(begins, text or plain), piece.endswith("</w>")
        case "joined":
            plain = piece.removesuffix("@@")
            return _marked(begins, text or plain), not piece.endswith("@@")
    return _visible(text or piece), False


def _joins(label: str, before: Sequence[str]) -> bool:
    """Whether a label would be in one word with the labels before it."""
    known = not before or is_special(label) or is_special(before[-1])
    return not (known or label.startswith("▁"))


def _marked(begins: bool, text: str) -> str:
    return ("▁" if begins else "") + (_visible(text.strip() or text) if text else "")


def _visible(text: str) -> str:
    """`text`; if it is only white space, with a visible sign for each."""
    return text if text.strip() else text.translate(_VISIBLE)


def _is_byte(piece: str) -> bool:
    return re.fullmatch("<0x[0-9A-F]{2}>", piece) is not None


def _raw(piece: str) -> bytes:
    """The bytes of a piece of byte-level BPE."""
    letters = byte_letters()
    if all(letter in letters for letter in piece):
        return bytes(letters[letter] for letter in piece)
    return piece.encode()


def _spelling(raw: bytes, text: str) -> str:
    """Spelling of bytes: the text at their place, or "<0xE4>" for bytes that are no characters."""
    bare = raw.lstrip(b" ") or raw
    try:
        own = bare.decode()
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in bare)
    return text or own


def is_usable(tokenizer: Any) -> bool:
    """Whether a tokenizer has entries and finds some of them in a text made from its entries."""
    vocabulary = tokenizer.get_vocab()
    special = set(tokenizer.all_special_ids)
    ids = sorted(number for number in vocabulary.values() if number not in special)
    if len(ids) < 2:
        return False
    sample = tokenizer.decode(ids[:: max(1, len(ids) // 50)][:50], skip_special_tokens=True)
    found = tokenizer(sample, add_special_tokens=False)["input_ids"]
    return bool(set(found) - special)
