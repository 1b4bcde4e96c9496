"""Text ↔ pieces of words, as SentencePiece learns them from text (Kudo & Richardson 2018,
arXiv 1808.06226).

A vocabulary contains all 256 bytes, so that every character can be encoded. The first piece of
a word begins with "▁". A byte is labelled "<0xE4>", or by its character where it is printable
ASCII.
"""

import io
import re
import string
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import sentencepiece

from explorer.core.errors import VocabularyError
from explorer.core.vocabulary import BOS, EOS, PAD, SPECIALS, check_text
from explorer.core.word_segmentation import is_spaceless

UNKNOWN = 3
"""The id that SentencePiece reserves for unknown characters; unused, because of the bytes."""

FEWEST_PIECES = 320
"""256 bytes, the specials, and some letters."""

_COVERAGE = 0.9998
_LETTERS_FROM = 1000  # with at least so many pieces, every ASCII letter has its own
_LONGEST_LINE = 4192  # bytes
_LONGEST_WORD = 64  # characters that are one piece
_WORD = re.compile(r"▁?[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NEEDS_MORE = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")  # SentencePiece's words


@dataclass(frozen=True)
class PieceVocabulary:
    """A serialised SentencePiece model. Raises `VocabularyError` when it cannot be read, or when
    its ids of padding, beginning and end are not those of all vocabularies here."""

    proto: bytes = field(repr=False)

    def __repr__(self) -> str:
        return f"PieceVocabulary({len(self)} pieces)"

    def __post_init__(self) -> None:
        try:
            sizes = self._pieces.pad_id(), self._pieces.bos_id(), self._pieces.eos_id()
            _ = self._labels  # the pieces of a manipulated file may not be UTF-8
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            raise VocabularyError("damaged_pieces") from error
        if sizes != (PAD, BOS, EOS):
            raise VocabularyError("foreign_pieces", got=sizes, expected=(PAD, BOS, EOS))

    @cached_property
    def _pieces(self) -> sentencepiece.SentencePieceProcessor:
        pieces = sentencepiece.SentencePieceProcessor()
        pieces.LoadFromSerializedProto(self.proto)
        return pieces

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return SPECIALS + tuple(map(self._label, range(len(SPECIALS), len(self))))

    def _label(self, number: int) -> str:
        piece = str(self._pieces.id_to_piece(number))
        return byte_label(piece) if self._pieces.is_byte(number) else piece

    def __len__(self) -> int:
        return int(self._pieces.get_piece_size())

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces of `text`, without specials.

        Raises `VocabularyError` on anything but a text, and on a text that is empty or too long for
        any model.
        """
        check_text(text)
        ids = self.encode_all([text])[0]
        if not ids:
            raise VocabularyError("empty_sentence")
        return ids

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of many texts; they may be empty or of any length."""
        ids: list[list[int]] = self._pieces.encode([tidy(text) for text in texts])
        return ids

    def sample_all(self, texts: Iterable[str], alpha: float, seed: int) -> list[list[int]]:
        """Ids of one sampled segmentation of each text: subword regularisation (Kudo 2018,
        arXiv 1804.10959).

        Samples from all segmentations, with probabilities to the power `alpha`: smaller values
        are more random. Equal seeds give equal ids.
        """
        sentencepiece.set_random_generator_seed(seed)  # one thread: each has its own generator
        ids: list[list[int]] = self._pieces.encode(
            [tidy(text) for text in texts],
            enable_sampling=True,
            nbest_size=-1,
            alpha=alpha,
            num_threads=1,
        )
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, specials dropped."""
        return str(self._pieces.decode([number for number in ids if number >= len(SPECIALS)]))

    def scored(self) -> list[tuple[str, float]]:
        """Each piece after the specials with its score, a log-probability."""
        numbers = range(len(SPECIALS), len(self))
        return [
            (str(self._pieces.id_to_piece(number)), float(self._pieces.get_score(number)))
            for number in numbers
        ]

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Label of each id: the piece, with "▁" at the start of a word."""
        return tuple(map(self._labels.__getitem__, ids))


def learn_pieces(lines: Iterable[str], size: int) -> PieceVocabulary:
    """A unigram model of at most `size` pieces, learnt from `lines`; fewer for a short text.

    Every digit is one piece, so that numbers can be carried over digit by digit. Equal lines
    give equal pieces. Raises `VocabularyError` when there is no text, and when the characters of
    the text alone are more than `size`.
    """
    return _learn(lines, size)


def learn_words(lines: Iterable[str], size: int) -> PieceVocabulary:
    """As `learn_pieces`, but each word of `lines` is one piece; so is each letter, for new words.

    In few lines, few parts of words repeat: `learn_pieces` would spell most words out. Scripts
    without spaces are spelt out, and learnt as by `learn_pieces` if no other is there.
    """
    lines = list(lines)
    counts = Counter(word for line in lines for word in _marked_words(line))
    if not counts:
        return _learn(lines, size)
    with tempfile.TemporaryDirectory() as folder:
        seeds = Path(folder) / "words.tsv"
        rows = (f"{word}\t{count}\n" for word, count in sorted(counts.items()))
        seeds.write_text("".join(rows), "utf-8", newline="\n")
        learnt = _learn(
            lines,
            size,
            seed_sentencepieces_file=str(seeds),
            max_sentencepiece_length=_LONGEST_WORD,
            split_by_unicode_script=False,  # that would split words at an apostrophe
        )
    path = str(seeds).encode()  # it is in the model, and no other time the same
    return PieceVocabulary(learnt.proto.replace(path, b"-" * len(path)))


def _marked_words(line: str) -> Iterator[str]:
    """The words of a line, with "▁" where a space or nothing is before them; without those of
    scripts without spaces."""
    for word in _WORD.findall("▁" + tidy(line).replace(" ", "▁")):
        if len(word) > 1 and not any(map(is_spaceless, word)):
            yield word


def _learn(lines: Iterable[str], size: int, **options: Any) -> PieceVocabulary:
    """The model that SentencePiece learns with these options; errors as in `learn_pieces`."""
    # SentencePiece skips these lines itself, but up to 0.2.2 it crashes if no other is left.
    read = (line for line in lines if line.strip() and len(line.encode()) <= _LONGEST_LINE)
    if (first := next(read, None)) is None:
        raise VocabularyError("no_text_for_pieces", limit=_LONGEST_LINE)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=chain([first], read),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=_COVERAGE,
            required_chars=string.digits + (string.ascii_letters if size >= _LETTERS_FROM else ""),
            split_digits=True,
            byte_fallback=True,
            normalization_rule_name="identity",
            max_sentence_length=_LONGEST_LINE,
            pad_id=PAD,
            bos_id=BOS,
            eos_id=EOS,
            unk_id=UNKNOWN,
            num_threads=1,
            minloglevel=2,
            **options,
        )
    except RuntimeError as error:
        if needs := _NEEDS_MORE.search(str(error)):
            least = int(needs[1])
            if size < _LETTERS_FROM <= least:
                least += len(string.ascii_letters)
            raise VocabularyError("few_pieces", got=size, least=least) from error
        raise VocabularyError("no_text_for_pieces", limit=_LONGEST_LINE) from error
    return PieceVocabulary(model.getvalue())


def byte_label(piece: str) -> str:
    """Label of a byte such as "<0xE4>": its character if that is printable ASCII, else itself."""
    code = int(piece[3:5], 16)
    return chr(code) if ord("!") <= code <= ord("~") else piece


def tidy(text: str) -> str:
    """`text` in NFC with each run of white space, no-break spaces included, as one space.

    French typography puts no-break spaces before some marks, but few texts do so consistently.
    """
    whole = text.encode(errors="replace").decode()  # a lone surrogate has no UTF-8
    return " ".join(unicodedata.normalize("NFC", whole).split())
