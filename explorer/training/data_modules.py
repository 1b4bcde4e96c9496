"""What a Transformer is taught: where its batches come from and how its answers are judged."""

import random
from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor

from explorer.core.vocabulary import Vocabulary
from explorer.data.batch import Batch
from explorer.data.parallel_corpus import read_pairs
from explorer.data.toy_data import Task, find_task
from explorer.model.config import ModelConfig
from explorer.model.transformer import Transformer
from explorer.training.config import TrainingConfig
from explorer.training.toy_evaluation import batch_gold_weight, exact_matches
from explorer.training.translation_data import PairsLesson, vocabularies_in

_EVALUATED = 512
_GOLD_EVALUATED = 64
_PROBE = ("7", "3", "9", "1", "4")


class Lesson(Protocol):
    """Batches to learn from, and figures that say what has been learnt."""

    @property
    def source_vocabulary(self) -> Vocabulary: ...

    @property
    def target_vocabulary(self) -> Vocabulary: ...

    @property
    def model_config(self) -> ModelConfig: ...

    @property
    def generator(self) -> torch.Generator | None:
        """What `batch` draws from beside its `step`; None where the step decides all."""

    @property
    def fixed_shapes(self) -> bool:
        """Whether every batch has one shape, so that a step can be recorded."""

    def batch(self, step: int) -> Batch:
        """What step 0, 1, … learns from."""

    def measure(self, model: Transformer) -> dict[str, Any]:
        """How well `model`, in evaluation mode, does: JSON values by name."""

    def score(self, measured: dict[str, Any]) -> float:
        """The figure of `measure`, from 0 to 1, at which a training may stop early."""

    def probe(self) -> tuple[str, str]:
        """A text and its right answer, to look at again and again."""

    def facts(self) -> dict[str, Any]:
        """What a checkpoint tells about its lesson."""

    def state(self) -> dict[str, Tensor]:
        """What the same lesson needs to be found again by a resumed training."""


class TaskLesson:
    """A toy task; its data are made where they are needed, on the GPU or on the CPU."""

    fixed_shapes = True

    def __init__(self, config: TrainingConfig, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.task: Task = find_task(config.task)
        self.source_vocabulary = self.target_vocabulary = config.vocabulary()
        self.model_config = config.model_config()
        self.generator = self._generator(config.seed)
        self._held = self._batch(_EVALUATED, self._generator(config.seed + 1))

    def batch(self, step: int) -> Batch:
        return self._batch(self.config.batch, self.generator)

    def measure(self, model: Transformer) -> dict[str, Any]:
        """exact_match: of 512 sequences like those of training; gold (layer, head): weight of
        the cross heads on the gold position."""
        held = self._held
        some = Batch(held.source[:_GOLD_EVALUATED], held.target[:_GOLD_EVALUATED])
        return {
            "exact_match": exact_matches(model, held).double().mean().item(),
            "gold": batch_gold_weight(model, self.task, some).round(4).tolist(),
        }

    def score(self, measured: dict[str, Any]) -> float:
        return float(measured["exact_match"])

    def probe(self) -> tuple[str, str]:
        """Five symbols, or as many as are learnt."""
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

    def _generator(self, seed: int) -> torch.Generator:
        kind = self.device.type
        return torch.Generator(self.device if kind == "cuda" else "cpu").manual_seed(seed)

    def _batch(self, size: int, generator: torch.Generator) -> Batch:
        config = self.config
        return self.task.batch(
            size, config.longest, len(config.symbols), generator, device=self.device
        )


def find_lesson(
    config: TrainingConfig, device: torch.device, kept: Mapping[str, Tensor] | None = None
) -> Lesson:
    """The lesson of a training; `kept`: the state of a trainer that is to go on.

    Raises `PairsError` when its pairs cannot be read or are no longer the same.
    """
    if not config.pairs:
        return TaskLesson(config, device)
    pairs = read_pairs(config.pairs, config.columns)
    if kept is None:
        return PairsLesson(config, pairs, device)
    state = {
        name.removeprefix("lesson."): value
        for name, value in kept.items()
        if name.startswith("lesson.")
    }
    return PairsLesson(config, pairs, device, vocabularies_in(state, pairs))
