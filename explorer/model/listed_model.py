"""What is listed of a model before it is loaded: its name, sizes, and texts that it reads."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal

from explorer.core.i18n import say, section
from explorer.core.vocabulary import is_chinese
from explorer.model import examples
from explorer.model.model_summary import ModelSummary

_MOST_EXAMPLES = 8
_MOST_DRAWS = 100  # of which all are equal only where there is nothing else to draw


class TextKind(StrEnum):
    """What a model reads: symbols, a sentence, the beginning of a text, a text with mask tokens,
    ids."""

    SYMBOLS = "symbols"
    SENTENCE = "sentence"
    PROMPT = "prompt"
    MASKED = "masked"
    IDS = "ids"


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model to choose, described by the header or the config of its file.

    name: its key in the catalog and in URLs.
    stamp: differs whenever the contents of the file do.
    mask: the mask token of a model that fills in masks, else "".
    reads_pairs: whether it reads a second text, too: it has segments, or was built for pairs.
    can_trace: True: a member of the catalog that is no model is a trace.
    draws_texts: whether `random_text` has something to draw.
    origin: "trained" on this machine or "uploaded"; "" where the list of models need not say.
    """

    name: str
    stamp: str
    summary: ModelSummary = field(compare=False)
    mask: str = field(default="", kw_only=True)
    reads_pairs: bool = field(default=False, kw_only=True)

    can_trace: ClassVar[Literal[True]] = True
    draws_texts: ClassVar[bool] = True
    origin: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """What people call it."""
        return self.name

    @property
    def examples(self) -> tuple[str, ...]:
        """Texts worth looking at, at least one; the first is the one to open with."""
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
        """What it reads."""
        return TextKind.SENTENCE if self.summary.reads_sentences else TextKind.SYMBOLS

    @property
    def gold_links(self) -> Path | None:
        """Where the gold links that ship with it may be; None of a model that does not ship."""
        return None

    def reads(self, text: str) -> bool:
        """Whether `text` means something to the model: a sentence is in the script of its
        examples."""
        return self.summary.reads(text) and self._has_script(text)

    def details(self, language: str) -> Iterator[str]:
        """What the list of models shows behind its name: sizes and scores."""
        summary = self.summary
        yield say(
            "explore.facts_sizes",
            language,
            encoder_layers=summary.encoder_layers,
            decoder_layers=summary.decoder_layers,
            heads=summary.heads,
        )
        if summary.exact_match is not None:
            percent = f"{100 * summary.exact_match:.1f}"
            yield say("explore.facts_exact", language, percent=percent)
        if summary.bleu is not None:
            yield say("explore.facts_bleu", language, score=f"{summary.bleu:.1f}")

    def purpose(self, language: str) -> str:
        """What the model does, by its name, its task or what it reads; "" where nothing says."""
        summary = self.summary
        kinds = (self.name, summary.task, "sentences" if summary.reads_sentences else "symbols")
        known = section("purpose", language)
        kind = next(kind for kind in kinds if kind in known)
        return say(f"purpose.{kind}", language, name=self.name)

    def source_of_scores(self, language: str) -> str:
        """What BLEU was measured on, and whose data the model learned from; "" where the file
        does not say."""
        summary, about = self.summary, ""
        if summary.bleu is not None and summary.test_sources is not None:
            score = f"{summary.bleu:.1f}"
            about = say("explore.bleu_on", language, score=score, count=summary.test_sources)
        return " ".join(filter(None, (about, summary.credit)))

    def random_text(self, generator: random.Random, shown: str = "") -> str:
        """Five to nine known symbols, as far as they fit, or a sentence held out of training;
        another than `shown`, where the model has another."""
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
        """Whether `text` is in a script of the model's own examples; without such, any is."""
        if not self.summary.reads_sentences:
            return True
        own = examples.for_model(self.name) or self._held_out()
        return not own or is_chinese(text) in {is_chinese(example) for example in own}

    def _held_out(self) -> tuple[str, ...]:
        return tuple(text for text in self.summary.sentences if self.summary.reads(text))
