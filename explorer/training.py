"""Teach a Transformer a task.

Attention is never supervised: the loss sees the output alone.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.checkpoint import Checkpoint
from explorer.errors import ConfigError, TrainingError
from explorer.evaluation import exactly_matched
from explorer.model import ModelConfig, Transformer
from explorer.tasks import MOST_SYMBOLS, Batch, Task, find_task
from explorer.vocabulary import CLASSROOM, PAD, SymbolVocabulary

_SIZES = {  # field → least and most
    "longest": (1, 256),
    "steps": (1, 10_000_000),
    "batch": (1, 65_536),
    "warmup": (1, 1_000_000),
    "evaluate_every": (1, 1_000_000),
    "seed": (0, 2**31),
}
_NUMBERS = {
    "rate": (1e-8, 1.0),
    "label_smoothing": (0.0, 0.9),
    "clip": (1e-6, 1e6),
    "until": (0.0, 1.0),
}
_CHOICES = {
    "schedule": ("cosine", "inverse-sqrt"),
    "precision": ("float32", "bfloat16"),
    "norm": ("pre", "post"),
}
_EVALUATED = 512


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Everything that decides a training; equal configs give equal weights on one machine.

    Raises `ConfigError` or `TrainingError` on what cannot work.
    """

    task: str = "reverse"
    longest: int = 16  # symbols in the longest sequence
    symbols: tuple[str, ...] = CLASSROOM.symbols
    d_model: int = 128
    heads: int = 4
    encoder_layers: int = 2
    decoder_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    steps: int = 3000
    batch: int = 64
    rate: float = 2e-3  # the peak of the schedule
    schedule: Literal["cosine", "inverse-sqrt"] = "cosine"
    warmup: int = 100  # steps
    label_smoothing: float = 0.0
    clip: float = 1.0  # largest norm of the gradient
    precision: Literal["float32", "bfloat16"] = "float32"
    until: float = 1.0  # exact match at which training stops early; 1.0 trains to the end
    evaluate_every: int = 100  # steps
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        find_task(self.task)
        for name, (least, most) in _SIZES.items():
            size = getattr(self, name)
            if type(size) is not int or not least <= size <= most:
                raise ConfigError("bad_size", name=name, got=size, least=least, most=most)
        for name, (low, high) in _NUMBERS.items():
            if not low <= getattr(self, name) <= high:
                number = getattr(self, name)
                raise ConfigError("bad_number", name=name, got=number, least=low, most=high)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                got = getattr(self, name)
                raise ConfigError("bad_choice", name=name, got=got, choices=", ".join(choices))
        if len(self.symbols) > MOST_SYMBOLS:
            got = len(self.symbols)
            raise ConfigError("bad_size", name="symbols", got=got, least=1, most=MOST_SYMBOLS)
        self.model_config()

    def vocabulary(self) -> SymbolVocabulary:
        return SymbolVocabulary(self.symbols)

    def model_config(self) -> ModelConfig:
        """Room for twice the longest sequence, so that people can try longer ones."""
        entries = len(self.vocabulary())
        return ModelConfig(
            source_vocabulary=entries,
            target_vocabulary=entries,
            d_model=self.d_model,
            heads=self.heads,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            d_ff=self.d_ff,
            dropout=self.dropout,
            norm=self.norm,
            max_length=2 * self.longest + 2,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a training stands after `step` steps."""

    step: int
    loss: float  # nats a token, mean since the last report
    exact_match: float  # of 512 sequences like those of training, 0 to 1
    rate: float
    tokens_per_second: float  # source and target tokens trained on, padding not counted
    seconds: float  # since the training began


class Trainer:
    """A model on its way. `run` trains it; `checkpoint` is what has been learnt so far."""

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.device = choose_device(config.device)
        self.task: Task = find_task(config.task)
        torch.manual_seed(config.seed)
        self.model = Transformer(config.model_config()).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.data = torch.Generator().manual_seed(config.seed)
        self.step = 0
        self.progress: Progress | None = None

    def run(self) -> Iterator[Progress]:
        """Train to the last step, or until the exact match is reached; report on the way.

        Raises `TrainingError` when the loss is no longer a number.
        """
        config, began = self.config, time.perf_counter()
        probe = self._batch(_EVALUATED, torch.Generator().manual_seed(config.seed + 1))
        losses: list[Tensor] = []
        tokens, since = 0, time.perf_counter()
        while self.step < config.steps:
            batch = self._batch(config.batch, self.data)
            losses.append(self._learn(batch))
            tokens += int((batch.source != PAD).sum() + (batch.target != PAD).sum())
            if self.step % config.evaluate_every and self.step < config.steps:
                continue
            loss = torch.stack(losses).mean().item()
            if not math.isfinite(loss):
                raise TrainingError("loss_not_finite", step=self.step)
            speed = tokens / (time.perf_counter() - since)
            self.model.eval()
            exact = exactly_matched(self.model, probe).double().mean().item()
            seconds = time.perf_counter() - began
            self.progress = Progress(
                self.step, loss, exact, learning_rate(config, self.step - 1), speed, seconds
            )
            yield self.progress
            if exact >= config.until < 1:
                return
            losses, tokens, since = [], 0, time.perf_counter()

    def checkpoint(self, facts: dict[str, Any]) -> Checkpoint:
        """The model as it is now, with what is known of it and `facts`."""
        vocabulary = self.config.vocabulary()
        known = {"task": self.config.task, "longest": self.config.longest, "steps": self.step}
        return Checkpoint(self.model.eval(), vocabulary, vocabulary, known | facts)

    def _batch(self, size: int, generator: torch.Generator) -> Batch:
        config = self.config
        return self.task.batch(
            size, config.longest, len(config.symbols), generator, device=self.device
        )

    def _learn(self, batch: Batch) -> Tensor:
        """One step of Adam on `batch`; its loss."""
        config = self.config
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(config, self.step)
        with torch.autocast(
            self.device.type, torch.bfloat16, enabled=config.precision == "bfloat16"
        ):
            logits = self.model(batch.source, batch.target[:, :-1])  # (B, T, V)
        loss = F.cross_entropy(
            logits.float().flatten(0, 1),
            batch.target[:, 1:].flatten(),
            ignore_index=PAD,
            label_smoothing=config.label_smoothing,
        )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        self.optimizer.step()
        self.step += 1
        return loss.detach()


def learning_rate(config: TrainingConfig, step: int) -> float:
    """The rate of step 0, 1, …: a linear warm-up, then down along half a cosine to 0, or
    with the inverse square root of the step.

    The paper's schedule (§5.3, equation 3) is "inverse-sqrt" with a peak rate of
    (d_model · warmup)^−½.
    """
    warm = (step + 1) / config.warmup
    if config.schedule == "inverse-sqrt":
        return config.rate * min(warm, warm**-0.5)
    decay = 0.5 * (1 + math.cos(math.pi * step / config.steps))
    return config.rate * min(1.0, warm) * decay


def choose_device(name: str) -> torch.device:
    """The device called `name`; "auto" is the GPU where there is one.

    Raises `TrainingError` when this machine has none of that name.
    """
    there = ["cpu"]
    there += ["cuda"] if torch.cuda.is_available() else []
    there += ["mps"] if torch.backends.mps.is_available() else []
    if name == "auto":
        return torch.device("cuda" if "cuda" in there else "cpu")
    if name.split(":")[0] not in there:
        raise TrainingError("no_device", device=name, choices=", ".join(["auto", *there]))
    return torch.device(name)
