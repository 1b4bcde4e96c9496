"""A model in a list before it is loaded: its name, the sizes and facts in the header of its file,
and texts that it reads."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from explorer.core.json_values import number
from explorer.core.vocabulary import LONGEST_LINKED_TEXT, LONGEST_TEXT, is_chinese
from explorer.model import examples

_WORD = re.compile(r"[^\W\d_]{2}")
_MOST_SENTENCES = 50
_LARGEST_PERPLEXITY = 1e6
_LONGEST_CREDIT = 300
_MOST_WORDS = 1000
_LONGEST_WORD = 50
_MOST_EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """Sizes and facts of a model; texts from its file are limited in length and number here.

    family: the model type in the config of a library model; "" for other models.
    decoder_heads: of each decoder layer; 0 if equal to the encoder's.
    symbols: the vocabulary of a model of symbols; empty for one that reads any text, in pieces.
    most_tokens: of a source, without its end.
    trained_tokens: of the longest source in training; `most_tokens` if unknown.
    usual_tokens: of an average text of its training pairs; 0 if unknown.
    task, credit: "" if unknown. credit: the authors of the training data.
    exact_match: 0 to 1. bleu: 0 to 100. test_sources: number of distinct sentences, held out of
    training, that BLEU was measured on. word_perplexity: of held-out texts. Each is None if
    unknown.
    sentences: texts that were held out of training, for a model that reads any text.
    source_words, target_words: frequent words of the training data; empty if unknown.
    """

    symbols: tuple[str, ...] = ()
    family: str = ""
    most_tokens: int = 0
    trained_tokens: int = 0
    usual_tokens: float = 0.0
    encoder_layers: int = 0
    decoder_layers: int = 0
    heads: int = 0
    decoder_heads: int = 0
    task: str = ""
    credit: str = ""
    exact_match: float | None = None
    bleu: float | None = None
    word_perplexity: float | None = None
    test_sources: int | None = None
    sentences: tuple[str, ...] = ()
    source_words: frozenset[str] = frozenset()
    target_words: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, config: Mapping[str, Any], symbols: tuple[str, ...], facts: Mapping[str, Any]
    ) -> "ModelSummary":
        """The summary of a checkpoint. Raises `KeyError`, `TypeError` or `ValueError` if
        `config` does not hold the sizes of a model."""
        most = int(config["max_length"]) - 1  # the end of the sequence takes one
        return cls(
            symbols=symbols,
            most_tokens=most,
            trained_tokens=_trained_tokens(facts.get("longest"), most),
            usual_tokens=_usual_tokens(facts.get("pairs")),
            encoder_layers=int(config["encoder_layers"]),
            decoder_layers=int(config["decoder_layers"]),
            heads=int(config["heads"]),
            task=_text(facts.get("task"), _LONGEST_CREDIT),
            credit=_text(facts.get("credit"), _LONGEST_CREDIT),
            exact_match=_score(facts.get("exact_match"), 1),
            bleu=_score(facts.get("bleu"), 100),
            word_perplexity=_score(facts.get("word_perplexity"), _LARGEST_PERPLEXITY),
            test_sources=_count(facts.get("test_sources")),
            sentences=_sentences(facts.get("examples")),
            source_words=_words(facts.get("source_words")),
            target_words=_words(facts.get("target_words")),
        )

    @property
    def decoder_only(self) -> bool:
        """Whether the model has no encoder: it then continues a text."""
        return self.encoder_layers == 0 and self.decoder_layers > 0

    @property
    def reads_sentences(self) -> bool:
        """Whether the model reads any text, in pieces of words."""
        return not self.symbols

    def reads(self, text: str) -> bool:
        """Whether `text` fits into the model and has no unknown symbol or, for a model of
        sentences, has at least one word.

        Only words are counted here: a text has at least as many pieces as words, and only the model
        itself can count the pieces.
        """
        symbols = text.split()
        if not 0 < len(symbols) <= self.most_tokens or len(text) > LONGEST_TEXT:
            return False
        if self.reads_sentences:
            return _WORD.search(text) is not None
        return set(symbols) <= set(self.symbols)


class TextKind(StrEnum):
    """Kind of text that a model reads: symbols, a sentence, the beginning of a text, a text with
    mask tokens, or ids."""

    SYMBOLS = "symbols"
    SENTENCE = "sentence"
    PROMPT = "prompt"
    MASKED = "masked"
    IDS = "ids"


@dataclass(frozen=True)
class ListedModel:
    """A model to choose, described by the header or the config of its file.

    name: its key in the catalog and in URLs.
    stamp: changes whenever the contents of the file change.
    mask: the mask token of a model that fills in masks, else "".
    reads_pairs: whether it reads a second text, too: it has segments, or was built for pairs.
    can_trace: True for all models; a member of the catalog without it is a trace.
    is_own: True for a Transformer of our own, False for a model of the library.
    draws_texts: whether there are random texts to draw.
    origin: "trained" on this machine or "uploaded"; "" for other models.
    """

    name: str
    stamp: str
    summary: ModelSummary = field(compare=False)
    mask: str = field(default="", kw_only=True)
    reads_pairs: bool = field(default=False, kw_only=True)

    can_trace: ClassVar[Literal[True]] = True
    is_own: ClassVar[bool] = True
    draws_texts: ClassVar[bool] = True
    origin: ClassVar[str] = ""

    @cached_property
    def label(self) -> str:
        """Display name."""
        return self.name

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Texts worth looking at, at least one; the first is the initial one."""
        summary = self.summary
        if summary.reads_sentences:
            held_out = self._held_out()[:_MOST_EXAMPLES]
            others = examples.PROMPTS if summary.decoder_only else (examples.ANY_SENTENCE,)
            return examples.for_model(self.name) or held_out or others
        texts = dict.fromkeys((*examples.for_model(self.name), *examples.for_task(summary.task)))
        short = (text for text in texts if len(text.split()) <= summary.trained_tokens)
        fitting = tuple(text for text in short if summary.reads(text))
        return fitting or (self._drawn_text(),)

    @cached_property
    def kind(self) -> TextKind:
        """Kind of text that it reads."""
        if not self.summary.reads_sentences:
            return TextKind.SYMBOLS
        return TextKind.PROMPT if self.summary.decoder_only else TextKind.SENTENCE

    @property
    def gold_links(self) -> Path | None:
        """Path where gold links may ship with it, or None for a model that does not ship."""
        return None

    @property
    def first_trace(self) -> Path | None:
        """Path where the trace of its first example may be stored, or None for a model that does
        not ship."""
        return None

    def reads(self, text: str) -> bool:
        """Whether the model can read `text`; a sentence must be in the script of its examples."""
        return self.summary.reads(text) and self._has_script(text)

    def _drawn_text(self) -> str:
        """Five to nine known symbols, fewer if the model reads fewer. A decoder alone gets
        different symbols and the first one again, which it can continue."""
        summary, generator = self.summary, random.Random(0)
        length = min(generator.randint(5, 9), summary.trained_tokens)
        if not summary.decoder_only:
            return " ".join(generator.choices(summary.symbols, k=length))
        block = generator.sample(summary.symbols, min(max(1, length - 1), len(summary.symbols)))
        return " ".join([*block, block[0]])

    def _has_script(self, text: str) -> bool:
        """Whether `text` is in a script of the model's own examples; True without examples."""
        if not self.summary.reads_sentences:
            return True
        own = examples.for_model(self.name) or self._held_out()
        return not own or is_chinese(text) in {is_chinese(example) for example in own}

    def _held_out(self) -> tuple[str, ...]:
        return tuple(text for text in self.summary.sentences if self.summary.reads(text))


def _trained_tokens(value: object, most: int) -> int:
    return min(value, most) if isinstance(value, int) and value > 0 else most


def _usual_tokens(pairs: object) -> float:
    pieces = pairs.get("pieces") if isinstance(pairs, Mapping) else None
    return number(pieces, 1.0, 1e6, otherwise=0.0)


def _text(value: object, longest: int) -> str:
    return value[:longest] if isinstance(value, str) else ""


def _score(value: object, most: float) -> float | None:
    return value if isinstance(value, int | float) and 0 <= value <= most else None


def _count(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _sentences(value: object) -> tuple[str, ...]:
    listed = value[:_MOST_SENTENCES] if isinstance(value, list) else []
    texts = dict.fromkeys(text for text in listed if isinstance(text, str))
    return tuple(text for text in texts if 0 < len(text) <= LONGEST_LINKED_TEXT)


def _words(value: object) -> frozenset[str]:
    listed = value[:_MOST_WORDS] if isinstance(value, list) else []
    return frozenset(
        word for word in listed if isinstance(word, str) and len(word) <= _LONGEST_WORD
    )
