"""Data modules: the source of a training's batches, and the evaluation of its model."""

import random
from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor

from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.core.vocabulary import Vocabulary
from explorer.data.batch import Batch
from explorer.data.continued_data import ContinuedTask, find_continued_task
from explorer.data.parallel_corpus import read_pairs
from explorer.data.task_names import CONTINUED_TASKS
from explorer.data.text_corpus import read_corpus
from explorer.data.toy_data import Task, find_task
from explorer.model.checkpoint import Checkpoint
from explorer.model.config import ModelConfig
from explorer.model.transformer import Transformer
from explorer.training.config import TrainingConfig
from explorer.training.continued_evaluation import evaluate_continued
from explorer.training.text_data import TextDataModule
from explorer.training.toy_evaluation import batch_gold_weight, judge
from explorer.training.translation_data import TranslationDataModule
from explorer.training.translation_metrics import mean_loss

STATE_PREFIX = "lesson."
"""Prefix of the names of a data module's state in a saved trainer."""

_EVALUATED = 512
_SEEN_EVALUATED = 128  # enough for a curve: the same ones at each moment
_GOLD_EVALUATED = 64
_PROBE = ("7", "3", "9", "1", "4")


class DataModule(Protocol):
    """Batches to train on, and measurements of the trained model."""

    @property
    def source_vocabulary(self) -> Vocabulary: ...

    @property
    def target_vocabulary(self) -> Vocabulary: ...

    @property
    def model_config(self) -> ModelConfig: ...

    @property
    def generator(self) -> torch.Generator | None:
        """The generator that `batch` draws from; None if the batch depends on the step alone."""

    @property
    def fixed_shapes(self) -> bool:
        """Whether all batches have one shape, so that a step can become a CUDA graph."""

    def batch(self, step: int) -> Batch:
        """The batch of step 0, 1, …"""

    def measure(self, model: Transformer) -> dict[str, Any]:
        """Measurements of `model`, in evaluation mode: JSON values by name, `training_loss` and
        `held_out_loss` among them; see `run_metrics`."""

    def score(self, measured: dict[str, Any]) -> float:
        """The figure of `measure`, from 0 to 1, at which a training may stop early."""

    def probe(self) -> tuple[str, str]:
        """A text and its right answer; each moment records their trace."""

    def facts(self) -> dict[str, Any]:
        """Facts of a checkpoint about its data."""

    def state(self) -> dict[str, Tensor]:
        """State from which a resumed training continues with the same data."""


class ToyDataModule:
    """A toy task; its data are generated on the device that trains on them."""

    fixed_shapes = True

    def __init__(self, config: TrainingConfig, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.task: Task = find_task(config.task)
        self.source_vocabulary = self.target_vocabulary = config.vocabulary()
        self.model_config = config.model_config()
        self.generator = seeded_generator(device, config.seed)
        self._held = self._batch(_EVALUATED, seeded_generator(device, config.seed + 1))
        self._seen = self._first_batches(_SEEN_EVALUATED)

    def batch(self, step: int) -> Batch:
        return self._batch(self.config.batch, self.generator)

    def measure(self, model: Transformer) -> dict[str, Any]:
        """exact_match and held_out_loss of 512 new sequences, drawn from the training distribution;
        training_loss of the first 128 training sequences; gold (layer, head): weight of the cross
        heads on the gold position."""
        held, smoothing = self._held, self.config.label_smoothing
        some = Batch(held.source[:_GOLD_EVALUATED], held.target[:_GOLD_EVALUATED])
        loss, exact_match = judge(model, held, smoothing)
        return {
            "exact_match": exact_match,
            "training_loss": round(mean_loss(model, [self._seen], smoothing).smoothed, 5),
            "held_out_loss": round(loss.smoothed, 5),
            "gold": batch_gold_weight(model, self.task, some).round(4).tolist(),
        }

    def score(self, measured: dict[str, Any]) -> float:
        return float(measured["exact_match"])

    def probe(self) -> tuple[str, str]:
        """Five symbols, or as many as the longest sequence has."""
        symbols = self.config.symbols
        size = min(len(_PROBE), self.config.longest)
        chosen = list(_PROBE[:size])
        if not set(_PROBE) <= set(symbols):
            chosen = random.Random(self.config.seed).choices(symbols, k=size)
        text = " ".join(chosen)
        answer = self.task.answer(self.source_vocabulary.encode(text))
        return text, self.target_vocabulary.decode(answer)

    def facts(self) -> dict[str, Any]:
        return {"task": self.config.task, "longest": self.config.longest}

    def state(self) -> dict[str, Tensor]:
        return {}

    def _first_batches(self, size: int) -> Batch:
        """The first `size` sequences of the training."""
        generator = seeded_generator(self.device, self.config.seed)
        count = -(-size // self.config.batch)
        drawn = [self._batch(self.config.batch, generator) for _ in range(count)]
        return Batch(
            torch.cat([batch.source for batch in drawn])[:size],
            torch.cat([batch.target for batch in drawn])[:size],
        )

    def _batch(self, size: int, generator: torch.Generator) -> Batch:
        config = self.config
        return self.task.batch(
            size,
            config.longest,
            len(config.symbols),
            generator,
            small_alphabets=config.small_alphabets,
            device=self.device,
        )


class ContinuedDataModule:
    """A toy task that a decoder alone continues; its data are generated on the device that trains
    on them."""

    fixed_shapes = True

    def __init__(self, config: TrainingConfig, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.task: ContinuedTask = find_continued_task(config.task)
        self.source_vocabulary = self.target_vocabulary = config.vocabulary()
        self.model_config = config.model_config()
        self.generator = seeded_generator(device, config.seed)
        self._alphabet = range(len(config.symbols))
        self._seen = self._batch(_EVALUATED, seeded_generator(device, config.seed))
        generator = torch.Generator().manual_seed(config.seed + 1)
        held = self.task.held_out_batch(_EVALUATED, config.longest, self._alphabet, generator)
        self._held = Batch(held.source.to(device), held.target.to(device))

    def batch(self, step: int) -> Batch:
        return self._batch(self.config.batch, self.generator)

    def measure(self, model: Transformer) -> dict[str, Any]:
        """exact_match, known_loss and new_loss, gold and previous of `ContinuedEvaluation`, and
        held_out_loss, on 512 held-out sequences; training_loss of 512 sequences as trained on."""
        smoothing = self.config.label_smoothing
        found = evaluate_continued(model, self.task, self._held)
        return {
            "exact_match": found.exact.double().mean().item(),
            "training_loss": round(mean_loss(model, [self._seen], smoothing).smoothed, 5),
            "held_out_loss": round(mean_loss(model, [self._held], smoothing).smoothed, 5),
            "known_loss": round(found.known_loss, 5),
            "new_loss": round(found.new_loss, 5),
            "gold": found.gold.round(4).tolist(),
            "previous": found.previous.round(4).tolist(),
        }

    def score(self, measured: dict[str, Any]) -> float:
        return float(measured["exact_match"])

    def probe(self) -> tuple[str, str]:
        """A held-out sequence, cut where the first symbol is known: of some, the one that is then
        nearest to `_PROBE` in length."""
        some: list[list[int]] = self._held.target[:_GOLD_EVALUATED, 1:-1].tolist()
        known = [int(self.task.gold([], symbols).any(-1).argmax()) for symbols in some]
        chosen = min(range(len(some)), key=lambda number: abs(known[number] - len(_PROBE) - 1))
        symbols, first = some[chosen], known[chosen]
        decode = self.target_vocabulary.decode
        return decode(symbols[:first]), decode(symbols[first:])

    def facts(self) -> dict[str, Any]:
        return {"task": self.config.task, "longest": self.config.longest}

    def state(self) -> dict[str, Tensor]:
        return {}

    def _batch(self, size: int, generator: torch.Generator) -> Batch:
        config = self.config
        count = len(config.symbols)
        return self.task.batch(size, config.longest, count, generator, device=self.device)


def seeded_generator(device: torch.device, seed: int) -> torch.Generator:
    """A generator on the GPU that trains, else on the CPU."""
    kind = device.type
    return torch.Generator(device if kind == "cuda" else "cpu").manual_seed(seed)


def find_data_module(
    config: TrainingConfig,
    device: torch.device,
    saved: Mapping[str, Tensor] | None = None,
    start: Checkpoint | None = None,
) -> DataModule:
    """The data module of a training.

    saved: the saved state of its trainer, to resume. start: the checkpoint that a new training
    begins with, whose vocabularies it uses.

    Raises `PairsError` when its pairs or texts cannot be read or are no longer the same.
    """
    if config.task in CONTINUED_TASKS:
        return ContinuedDataModule(config, device)
    if not config.of_sentences:
        return ToyDataModule(config, device)
    state, vocabularies = _own_state(saved), _pieces(start)
    if config.texts:
        texts = read_corpus(config.texts, config.columns[0])
        vocabulary = vocabularies[1] if vocabularies else None
        return TextDataModule(config, texts, device, state, vocabulary)
    pairs = read_pairs(config.pairs, config.columns)
    return TranslationDataModule(config, pairs, device, state, vocabularies)


def _own_state(saved: Mapping[str, Tensor] | None) -> Mapping[str, Tensor] | None:
    """The state of the data module in the saved state of a trainer."""
    if saved is None:
        return None
    return {
        name.removeprefix(STATE_PREFIX): value
        for name, value in saved.items()
        if name.startswith(STATE_PREFIX)
    }


def _pieces(start: Checkpoint | None) -> tuple[PieceVocabulary, PieceVocabulary] | None:
    """The vocabularies of a checkpoint; None without a checkpoint, then they are learnt."""
    if start is None:
        return None
    source, target = start.source_vocabulary, start.target_vocabulary
    assert isinstance(source, PieceVocabulary)
    assert isinstance(target, PieceVocabulary)
    return source, target
