"""A model in a list before it is loaded: its name, sizes, and texts that it reads."""

import random
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal

from explorer.core.vocabulary import is_chinese
from explorer.model import examples
from explorer.model.model_summary import ModelSummary

_MOST_EXAMPLES = 8
_MOST_DRAWS = 100  # if all are equal, there is surely no other text to draw


class TextKind(StrEnum):
    """Kind of text that a model reads: symbols, a sentence, the beginning of a text, a text with
    mask tokens, or ids."""

    SYMBOLS = "symbols"
    SENTENCE = "sentence"
    PROMPT = "prompt"
    MASKED = "masked"
    IDS = "ids"


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model to choose, described by the header or the config of its file.

    name: its key in the catalog and in URLs.
    stamp: changes whenever the contents of the file change.
    mask: the mask token of a model that fills in masks, else "".
    reads_pairs: whether it reads a second text, too: it has segments, or was built for pairs.
    can_trace: True for all models; a member of the catalog without it is a trace.
    is_own: True for a Transformer of our own, False for a model of the library.
    draws_texts: whether `random_text` has texts to draw.
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

    @property
    def label(self) -> str:
        """Display name."""
        return self.name

    @property
    def examples(self) -> tuple[str, ...]:
        """Texts worth looking at, at least one; the first is the initial one."""
        summary = self.summary
        if summary.reads_sentences:
            held_out = self._held_out()[:_MOST_EXAMPLES]
            return examples.for_model(self.name) or held_out or (examples.ANY_SENTENCE,)
        texts = examples.for_task(summary.task)
        short = (text for text in texts if len(text.split()) <= summary.trained_tokens)
        fitting = tuple(text for text in short if summary.reads(text))
        return fitting or (self.random_text(random.Random(0)),)

    @property
    def kind(self) -> TextKind:
        """Kind of text that it reads."""
        return TextKind.SENTENCE if self.summary.reads_sentences else TextKind.SYMBOLS

    @property
    def gold_links(self) -> Path | None:
        """Path where gold links may ship with it, or None for a model that does not ship."""
        return None

    def reads(self, text: str) -> bool:
        """Whether the model can read `text`; a sentence must be in the script of its examples."""
        return self.summary.reads(text) and self._has_script(text)

    def random_text(self, generator: random.Random, shown: str = "") -> str:
        """Five to nine known symbols, fewer if the model reads fewer, or a sentence held out of
        training. It differs from `shown` if the model has another text."""
        for _ in range(_MOST_DRAWS):
            if (drawn := self._draw_text(generator)) != shown:
                return drawn
        return shown

    def _draw_text(self, generator: random.Random) -> str:
        summary = self.summary
        if summary.reads_sentences:
            return generator.choice(self._held_out() or self.examples)
        length = min(generator.randint(5, 9), summary.trained_tokens)
        return " ".join(generator.choices(summary.symbols, k=length))

    def _has_script(self, text: str) -> bool:
        """Whether `text` is in a script of the model's own examples; True without examples."""
        if not self.summary.reads_sentences:
            return True
        own = examples.for_model(self.name) or self._held_out()
        return not own or is_chinese(text) in {is_chinese(example) for example in own}

    def _held_out(self) -> tuple[str, ...]:
        return tuple(text for text in self.summary.sentences if self.summary.reads(text))
