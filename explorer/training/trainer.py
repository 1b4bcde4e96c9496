"""Teach a Transformer a lesson.

Attention is never supervised: the loss sees the output alone.
"""

import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.core.errors import TrainingError
from explorer.core.vocabulary import PAD
from explorer.model.checkpoint import Checkpoint
from explorer.model.transformer import Transformer
from explorer.training import distributed
from explorer.training.config import TrainingConfig, learning_rate
from explorer.training.cuda_graph import WARMUP_STEPS, GraphedStep, side_stream
from explorer.training.data_modules import Lesson, find_lesson


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a training stands after `step` steps."""

    step: int
    seconds: float  # since the training began, pauses not counted
    loss: float  # nats a token, mean since the last moment
    measured: dict[str, Any]  # what the lesson measures: exact_match and gold, or BLEU …
    score: float  # the one of them that may end the training, 0 to 1
    rate: float
    gradient_norm: float  # of all weights, before clipping, at this step
    gradient_norms: dict[str, float]  # of each layer
    tokens_per_second: float  # source and target tokens trained on, padding not counted
    memory: float  # MB: of the GPU at its fullest, or of the whole process

    def line(self) -> dict[str, Any]:
        """The moment as one flat JSON object."""
        line = asdict(self)
        del line["measured"], line["score"]
        return line | self.measured


class Trainer:
    """A model on its way. `run` trains it; `checkpoint` is what has been learnt so far."""

    def __init__(self, config: TrainingConfig, kept: Mapping[str, Tensor] | None = None) -> None:
        """kept: the `state` of an earlier trainer with the same config, to go on from."""
        self.config = config
        self.device = distributed.local_device() or choose_device(config.device)
        self.lesson: Lesson = find_lesson(config, self.device, kept)
        torch.manual_seed(config.seed)
        self.model = Transformer(self.lesson.model_config).to(self.device)
        self.rate = torch.zeros((), device=self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=self.rate if self._on_gpu else 0.0,
            betas=(0.9, 0.98),
            eps=1e-9,
            fused=True,
            capturable=self._on_gpu,
        )
        self.step = 0
        self.seconds = 0.0
        self.moment: Moment | None = None
        self._parallel = distributed.data_parallel(self.model)
        self._norms: dict[str, float] = {}
        self._losses = torch.zeros((), device=self.device)  # summed since the last moment
        self._tokens = torch.zeros((), dtype=torch.long, device=self.device)
        self._counted = 0
        self._recorded: GraphedStep | None = None
        self._records = self._on_gpu and self.lesson.fixed_shapes and distributed.world_size() == 1
        if kept is not None:
            self._restore(kept)

    @property
    def finished(self) -> bool:
        """Whether the last step is done or the score reached."""
        until, moment = self.config.until, self.moment
        reached = moment is not None and moment.score >= until < 1
        return self.step >= self.config.steps or reached

    def run(self) -> Iterator[Moment | None]:
        """Train until `finished`: yield a moment after each evaluation, None after each other
        step, so that whoever listens can stop between two steps.

        Raises `TrainingError` when the loss is no longer a number.
        """
        before, since = self.seconds, time.perf_counter()
        while not self.finished:
            self._advance()
            self.seconds = before + time.perf_counter() - since
            if not self._evaluates(self.step):
                yield None
                continue
            self.moment = self._evaluate(self.seconds - before)
            self.seconds = before + time.perf_counter() - since
            yield self.moment
            before, since = self.seconds, time.perf_counter()

    def checkpoint(self, facts: Mapping[str, Any]) -> Checkpoint:
        """The model as it is now, with what is known of it and `facts`."""
        lesson = self.lesson
        known = lesson.facts() | {"steps": self.step} | dict(facts)
        return Checkpoint(
            self.model.eval(), lesson.source_vocabulary, lesson.target_vocabulary, known
        )

    def state(self) -> dict[str, Tensor]:
        """Everything a new trainer needs to go on as if nothing had happened."""
        state: dict[str, Tensor] = {}
        for name, weight in self.model.named_parameters():  # tied ones once
            state[f"model.{name}"] = weight
            for key, value in self.optimizer.state[weight].items():
                state[f"optimizer.{name}.{key}"] = value
        state |= {f"lesson.{name}": value for name, value in self.lesson.state().items()}
        if self.lesson.generator is not None:
            state["random.data"] = self.lesson.generator.get_state()
        state["random.cpu"] = torch.get_rng_state()
        if self.device.type == "cuda":
            state["random.cuda"] = torch.cuda.get_rng_state(self.device)
        state["step"] = torch.tensor(self.step)
        state |= {"losses": self._losses, "tokens": self._tokens}
        state["counted"] = torch.tensor(self._counted)
        state["seconds"] = torch.tensor(self.seconds, dtype=torch.float64)
        return {name: value.detach().cpu().contiguous() for name, value in state.items()}

    def _restore(self, state: Mapping[str, Tensor]) -> None:
        for name, weight in self.model.named_parameters():
            with torch.no_grad():
                weight.copy_(state[f"model.{name}"])
            start = f"optimizer.{name}."
            kept = {
                key.removeprefix(start): value
                for key, value in state.items()
                if key.startswith(start)
            }
            self.optimizer.state[weight] = {
                key: value if key == "step" else value.to(self.device)
                for key, value in kept.items()
            }
        if self.lesson.generator is not None:
            self.lesson.generator.set_state(state["random.data"])
        torch.set_rng_state(state["random.cpu"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state["random.cuda"], self.device)
        self.step, self.seconds = int(state["step"]), float(state["seconds"])
        self._losses.copy_(state["losses"])
        self._tokens.copy_(state["tokens"])
        self._counted = int(state["counted"])

    def _evaluates(self, step: int) -> bool:
        return step % self.config.evaluate_every == 0 or step == self.config.steps

    @property
    def _on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def _advance(self) -> None:
        """One step: replayed from its recording where there is one.

        Steps that are evaluated are run one operation at a time, to look at the gradients.
        """
        self.model.train()
        self._set_rate(learning_rate(self.config, self.step))
        evaluates = self._evaluates(self.step + 1)
        if self._recorded is not None and not evaluates:
            self._recorded()
        elif self._records:
            with side_stream():
                self._learn(look=evaluates)
            self._record()
        else:
            self._learn(look=evaluates)
        self.step += 1
        self._counted += 1

    def _record(self) -> None:
        """Record the step once it is warm; without luck, go on one operation at a time."""
        if self._recorded is not None or self._counted + 1 < WARMUP_STEPS:
            return
        assert self.lesson.generator is not None
        try:
            self._recorded = GraphedStep(self._learn, self.lesson.generator)
        except RuntimeError:
            self._records = False

    def _set_rate(self, rate: float) -> None:
        if self._on_gpu:
            self.rate.fill_(rate)
            return
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _learn(self, look: bool = False) -> None:
        """Adam on one batch, part by part; `look`: note the norms of the gradients."""
        config = self.config
        batch = self.lesson.batch(self.step)
        tokens = (batch.target[:, 1:] != PAD).sum()  # of the whole batch, all processes alike
        self.optimizer.zero_grad(set_to_none=True)
        own = (
            half.chunk(distributed.world_size())[distributed.rank()].chunk(config.accumulate)
            for half in (batch.source, batch.target)
        )
        parts = list(zip(*own, strict=True))
        for number, (source, target) in enumerate(parts, start=1):
            last = number == len(parts)
            with nullcontext() if last else distributed.no_gradient_sync(self._parallel):
                loss = self._loss(source, target) / tokens
                (loss * distributed.world_size()).backward()  # type: ignore[no-untyped-call]
            self._losses += loss.detach()
        self._tokens += (batch.source != PAD).sum() + tokens
        if look:
            self._norms = gradient_norms(self.model)
        nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        self.optimizer.step()

    def _loss(self, source: Tensor, target: Tensor) -> Tensor:
        """The loss of a part, summed over its tokens."""
        bf16 = self.config.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
            logits = self._parallel(source, target[:, :-1])  # (B, T, V)
        return F.cross_entropy(
            logits.float().flatten(0, 1),
            target[:, 1:].flatten(),
            ignore_index=PAD,
            label_smoothing=self.config.label_smoothing,
            reduction="sum",
        )

    def _evaluate(self, seconds: float) -> Moment:
        """What there is to say after `seconds` of training since the last moment."""
        loss = float(distributed.all_reduce_sum(self._losses)) / self._counted
        tokens = int(self._tokens)
        self._losses.zero_()
        self._tokens.zero_()
        self._counted = 0
        if not math.isfinite(loss):
            raise TrainingError("loss_not_finite", step=self.step)
        measured = self.lesson.measure(self.model.eval())
        return Moment(
            step=self.step,
            seconds=self.seconds,
            loss=loss,
            measured=measured,
            score=self.lesson.score(measured),
            rate=learning_rate(self.config, self.step - 1),
            gradient_norm=math.hypot(*self._norms.values()),
            gradient_norms=self._norms,
            tokens_per_second=tokens / seconds,
            memory=memory_used(self.device),
        )


def gradient_norms(model: Transformer) -> dict[str, float]:
    """The norm of the gradient of each layer, and of what is in none ("encoder.embedding")."""
    squares: dict[str, float] = {}
    for name, weight in model.named_parameters():
        if weight.grad is not None:
            parts = name.split(".")
            layer = ".".join(parts[: 3 if "layers" in parts else 2])
            squares[layer] = squares.get(layer, 0.0) + float(weight.grad.norm()) ** 2
    return {layer: math.sqrt(square) for layer, square in squares.items()}


def memory_used(device: torch.device) -> float:
    """MB at the fullest: of the GPU, or of this whole process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    if sys.platform == "win32":
        return math.nan
    import resource  # not there on Windows

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def choose_device(name: str) -> torch.device:
    """The device called `name`; "auto" is the GPU where there is one, and the first of a kind
    goes by the kind alone: so each device has one name.

    Raises `TrainingError` when this machine has none of that name.
    """
    there = ["cpu"]
    there += ["cuda"] if torch.cuda.is_available() else []
    there += ["mps"] if torch.backends.mps.is_available() else []
    if name == "auto":
        return torch.device("cuda" if "cuda" in there else "cpu")
    if name.split(":")[0] not in there:
        raise TrainingError("no_device", device=name, choices=", ".join(["auto", *there]))
    return torch.device(name.removesuffix(":0"))
