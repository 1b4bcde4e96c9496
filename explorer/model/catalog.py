"""The models and traces to choose from: checkpoints that ship, models trained on this machine, and
a visitor's uploads. Those in directories of the library transformers are in `model_directory`.

Nothing here needs torch: a checkpoint in a file is listed by its header, and loaded by
`explorable.load` when it is first used. Names are looked up here, never used as paths.
"""

import os
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from explorer.core import folders
from explorer.core.errors import ExplorerError, FileError
from explorer.core.files import has_printable_name, log_skipped, printable, reason
from explorer.core.i18n import say, section
from explorer.core.trace import Trace
from explorer.core.vocabulary import is_chinese
from explorer.model import examples
from explorer.model.checkpoint_header import read_header
from explorer.model.model_summary import ModelSummary

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel

TRAIN_COMMAND = "python -m explorer train --task reverse --out checkpoints/reverse.safetensors"
"""Makes a model where none ships."""

_ORDER = (
    *("reverse", "english-french", "chinese-english", "copy", "sort"),
    *("reverse-early", "english-french-early"),
)
"""Of the shipped models; others follow by name."""

_MOST_EXAMPLES = 8
_MOST_DRAWS = 100  # of which all are equal only where there is nothing else to draw

TRAINED_PREFIX = "runs/"
"""Begins the name of a trained model whose run is called as another model is."""


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model to choose: shipped, trained here or uploaded.

    name: its key in the catalog and in URLs.
    stamp: differs whenever the contents of the file do.
    """

    name: str
    stamp: str
    summary: ModelSummary = field(compare=False)

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
    def draws_texts(self) -> bool:
        """Whether `random_text` has something to draw."""
        return True

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


@dataclass(frozen=True, slots=True)
class StoredModel(CatalogModel):
    """A model in a file or directory of this machine, there for every visitor and after a
    restart."""

    path: Path


class ShippedModel(StoredModel):
    """A checkpoint in the folder of checkpoints."""

    __slots__ = ()


class TrainedModel(StoredModel):
    """The best checkpoint of a training on this machine."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """The name of the run."""
        return self.name.removeprefix(TRAINED_PREFIX)


@dataclass(frozen=True, slots=True)
class UploadedModel(CatalogModel):
    """A checkpoint that a visitor uploaded; it is loaded already."""

    model: "ExplorableModel" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UploadedTrace:
    """A trace that a visitor uploaded, without its model."""

    name: str
    stamp: str
    trace: Trace = field(compare=False, repr=False)


Upload: TypeAlias = UploadedModel | UploadedTrace
CatalogMember: TypeAlias = CatalogModel | UploadedTrace


def shipped_models() -> dict[str, ShippedModel]:
    """The listed checkpoints by name, the one to open with first."""
    found = []
    for path in folders.checkpoints().glob("*.safetensors"):
        try:
            status = path.stat()
        except OSError as error:
            log_skipped(path, reason(error))
            continue
        summary = _summary(path, status.st_mtime_ns, status.st_size)
        if summary is not None:
            found.append(ShippedModel(path.stem, _stamp(path, status), summary, path))
    ranks = {name: rank for rank, name in enumerate(_ORDER)}
    found.sort(key=lambda model: (ranks.get(model.name, len(ranks)), model.name))
    return {model.name: model for model in found}


def trained_model(name: str, path: Path) -> TrainedModel | None:
    """The model called `name` that a run has stored at `path`; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    summary = _summary(path, status.st_mtime_ns, status.st_size)
    if summary is None:
        return None
    return TrainedModel(name, _stamp(path, status), summary, path)


def describe(member: CatalogMember, language: str) -> str:
    """What the list of models shows: "reverse · 2+2 layers · 4 heads · 99.8 % exact"."""
    if isinstance(member, UploadedTrace):
        return say("explore.facts_trace", language, name=member.name)
    parts = [member.label, *member.details(language)]
    if isinstance(member, UploadedModel):
        parts.append(say("explore.facts_uploaded", language))
    if isinstance(member, TrainedModel):
        parts.append(say("explore.facts_trained", language))
    return " · ".join(parts)


@lru_cache(maxsize=512)
def _summary(path: Path, changed: int, size: int) -> ModelSummary | None:
    """What the header of a checkpoint file says; None when it holds none, so that it is not listed.

    changed, size: of the file; a changed file is read again.
    """
    try:
        if not has_printable_name(path):
            raise FileError("unreadable_file", name=printable(path.name))
        header = read_header(path)
        symbols, _ = header.symbols("source"), header.symbols("target")
        return ModelSummary.of(asdict(header.config), symbols, header.facts)
    except ExplorerError as error:
        log_skipped(path, error)
        return None


def _stamp(path: Path, status: os.stat_result) -> str:
    return f"{path}:{status.st_mtime_ns}:{status.st_size}"
