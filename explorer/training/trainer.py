"""The training loop: batches from a data module, Adam, and an evaluation every few steps.

Attention is never supervised: the loss depends on the outputs alone.
"""

import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.core.errors import TrainingError
from explorer.core.vocabulary import PAD
from explorer.model.checkpoint import Checkpoint
from explorer.model.transformer import Transformer
from explorer.training import distributed
from explorer.training.config import TrainingConfig
from explorer.training.cuda_graph import GraphedStep
from explorer.training.data_modules import STATE_PREFIX, DataModule, find_data_module
from explorer.training.device import choose_device, computes_bfloat16
from explorer.training.schedule import learning_rate
from explorer.training.start_checkpoint import load_start
from explorer.training.token_loss import TokenLoss

_AVERAGED_EVERY = 10
"""Steps between two updates of the averaged weights."""

_DIVERGED = 2.0
"""Diverged: loss above this multiple of ln V, the loss of a uniform guess. A training begins near
ln V, and one that learns nothing stays below the limit."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One evaluation of a training, after `step` steps."""

    step: int
    seconds: float  # since the training began, pauses not counted
    loss: float  # nats a token, mean since the last moment
    measured: dict[str, Any]  # from the data module: held_out_loss, exact_match or BLEU …
    score: float  # the figure of `measured` that may end training early, 0 to 1
    best: bool  # whether no earlier moment had a lower held-out loss
    rate: float
    gradient_norm: float  # of all weights, before clipping, at this step
    gradient_norms: dict[str, float]  # of each layer
    tokens_per_second: float  # source and target tokens trained on, padding not counted
    memory: float  # MB: of the GPU at its fullest, or of the whole process

    def line(self) -> dict[str, Any]:
        """The moment as one flat JSON object."""
        line = asdict(self)
        del line["measured"], line["score"], line["best"]
        return line | self.measured


class Trainer:
    """A model in training. `run` trains it; `checkpoint` is the model as it is now.

    With `average` set, evaluations and checkpoints are of averaged weights: an exponential
    moving average over about so many steps (Polyak & Juditsky 1992; Vaswani et al. 2017, §6.1,
    average the last checkpoints), updated every few steps.
    """

    def __init__(self, config: TrainingConfig, saved: Mapping[str, Tensor] | None = None) -> None:
        """saved: the `state` of an earlier trainer with the same config, to resume.

        Raises `TrainingError` when the checkpoint that the training begins with does not fit the
        settings.
        """
        self.config = config
        self.device = distributed.local_device() or choose_device(config.device)
        if self.device.type == "cuda":  # cuDNN plans its attention anew for each shape: 10 × slower
            torch.backends.cuda.enable_cudnn_sdp(False)
        self._bfloat16 = config.precision == "bfloat16" and computes_bfloat16(self.device)
        start = load_start(config) if saved is None else None
        self.data_module: DataModule = find_data_module(config, self.device, saved, start)
        torch.manual_seed(config.seed)
        self.model = Transformer(self.data_module.model_config).to(self.device)
        if start is not None:
            self.model.load_state_dict(start.model.state_dict())
        exact = torch.float64 if self.device.type == "cpu" else torch.float32  # all a GPU takes
        self.rate = torch.zeros((), dtype=exact, device=self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=self.rate,  # this very tensor, which every step fills
            betas=(config.beta1, config.beta2),
            eps=1e-9,
            fused=True,
            capturable=self.device.type == "cuda",
        )
        self.step = 0
        self.seconds = 0.0
        self.moment: Moment | None = None
        self.averaged = self.model
        if config.average:
            self.averaged = Transformer(self.data_module.model_config).to(self.device)
            self.averaged.load_state_dict(self.model.state_dict())
        self.best_loss = math.inf
        self._since_best = 0  # evaluations
        self._token_loss = distributed.data_parallel(TokenLoss(self.model, config.label_smoothing))
        self._norms: dict[str, float] = {}
        self._losses = torch.zeros((), device=self.device)  # summed since the last moment
        self._tokens = torch.zeros((), dtype=torch.long, device=self.device)
        self._counted = 0
        self._graphed_step = self._make_graphed_step()
        if saved is not None:
            self._restore(saved)

    @property
    def finished(self) -> bool:
        """Whether the last step is done, the score reached, or the patience used up."""
        until, moment, patience = self.config.until, self.moment, self.config.patience
        reached = moment is not None and moment.score >= until < 1
        return self.step >= self.config.steps or reached or 0 < patience <= self._since_best

    def run(self) -> Iterator[Moment | None]:
        """Train until `finished`: yield a moment after each evaluation, None after each other
        step, so that the caller can stop between two steps.

        Raises `TrainingError` when the training has diverged.
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
        """The model as it is now, with the facts of its data and `facts`."""
        data = self.data_module
        known = data.facts() | {"steps": self.step} | dict(facts)
        return Checkpoint(
            self.averaged.eval(), data.source_vocabulary, data.target_vocabulary, known
        )

    def state(self) -> dict[str, Tensor]:
        """Everything that a new trainer needs to resume with equal results."""
        state: dict[str, Tensor] = {}
        for name, weight in self.model.named_parameters():  # tied ones once
            state[f"model.{name}"] = weight
            for key, value in self.optimizer.state[weight].items():
                state[f"optimizer.{name}.{key}"] = value
        if self.averaged is not self.model:
            for name, weight in self.averaged.named_parameters():
                state[f"averaged.{name}"] = weight
        state |= {
            f"{STATE_PREFIX}{name}": value for name, value in self.data_module.state().items()
        }
        if self.data_module.generator is not None:
            state["random.data"] = self.data_module.generator.get_state()
        state["random.cpu"] = torch.get_rng_state()
        if self.device.type == "cuda":
            state["random.cuda"] = torch.cuda.get_rng_state(self.device)
        state["step"] = torch.tensor(self.step)
        state |= {"losses": self._losses, "tokens": self._tokens}
        state["counted"] = torch.tensor(self._counted)
        state["best_loss"] = torch.tensor(self.best_loss, dtype=torch.float64)
        state["since_best"] = torch.tensor(self._since_best)
        state["seconds"] = torch.tensor(self.seconds, dtype=torch.float64)
        return {name: value.detach().cpu().contiguous() for name, value in state.items()}

    def _restore(self, state: Mapping[str, Tensor]) -> None:
        for name, weight in self.model.named_parameters():
            with torch.no_grad():
                weight.copy_(state[f"model.{name}"])
            start = f"optimizer.{name}."
            saved = {
                key.removeprefix(start): value
                for key, value in state.items()
                if key.startswith(start)
            }
            # As `Adam.load_state_dict` does with fused=True; that would also copy the rate.
            self.optimizer.state[weight] = {
                key: value.to(weight.device) for key, value in saved.items()
            }
        if self.averaged is not self.model:
            for name, weight in self.averaged.named_parameters():
                with torch.no_grad():
                    weight.copy_(state[f"averaged.{name}"])
        if "best_loss" in state:  # older states have none
            self.best_loss = float(state["best_loss"])
            self._since_best = int(state["since_best"])
        if self.data_module.generator is not None:
            self.data_module.generator.set_state(state["random.data"])
        torch.set_rng_state(state["random.cpu"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state["random.cuda"], self.device)
        self.step, self.seconds = int(state["step"]), float(state["seconds"])
        self._losses.copy_(state["losses"])
        self._tokens.copy_(state["tokens"])
        self._counted = int(state["counted"])

    def _evaluates(self, step: int) -> bool:
        return step % self.config.evaluate_every == 0 or step == self.config.steps

    def _advance(self) -> None:
        """Take one step; replayed as a CUDA graph if there is one.

        A step before an evaluation runs one operation at a time, so that the norms of its
        gradients can be read.
        """
        self.model.train()
        self.rate.fill_(learning_rate(self.config, self.step))
        evaluates = self._evaluates(self.step + 1)
        if self._graphed_step is None:
            self._learn(look=evaluates)
        elif evaluates:
            self._graphed_step.run_eagerly(partial(self._learn, look=True))
        else:
            self._graphed_step()
        self.step += 1
        self._counted += 1
        if self.averaged is not self.model and self.step % _AVERAGED_EVERY == 0:
            self._average()

    @torch.no_grad()
    def _average(self) -> None:
        """Move the averaged weights towards the present ones; at first quickly, so that the
        initial weights are soon forgotten."""
        span = min(self.config.average, self.step) / _AVERAGED_EVERY  # updates
        pairs = zip(self.averaged.parameters(), self.model.parameters(), strict=True)
        for average, weight in pairs:
            average.lerp_(weight, 1 / (1 + span))

    def _make_graphed_step(self) -> GraphedStep | None:
        """The step for one GPU and batches of one shape; None elsewhere."""
        generator = self.data_module.generator
        alone = distributed.world_size() == 1
        if self.device.type != "cuda" or generator is None or not alone:
            return None
        return GraphedStep(self._learn, generator) if self.data_module.fixed_shapes else None

    def _learn(self, look: bool = False) -> None:
        """One update by Adam from one batch, part by part; `look`: keep the gradient norms."""
        config = self.config
        batch = self.data_module.batch(self.step)
        tokens = (batch.target[:, 1:] != PAD).sum()  # of the whole batch, all processes alike
        self.optimizer.zero_grad(set_to_none=True)
        own = (
            half.tensor_split(distributed.world_size())[distributed.rank()].chunk(config.accumulate)
            for half in (batch.source, batch.target)
        )
        parts = list(zip(*own, strict=True))
        for number, (source, target) in enumerate(parts, start=1):
            last = number == len(parts)
            with nullcontext() if last else distributed.no_gradient_sync(self._token_loss):
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
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._bfloat16):
            loss: Tensor = self._token_loss(source, target)
        return loss

    def _evaluate(self, seconds: float) -> Moment:
        """The moment after `seconds` of training since the last one."""
        loss = float(distributed.all_reduce_sum(self._losses)) / self._counted
        tokens = int(self._tokens)
        self._losses.zero_()
        self._tokens.zero_()
        self._counted = 0
        self._refuse_divergence(loss)
        measured = self.data_module.measure(self.averaged.eval())
        self._refuse_divergence(measured["training_loss"])
        best = measured["held_out_loss"] < self.best_loss
        self._since_best = 0 if best else self._since_best + 1
        self.best_loss = min(self.best_loss, measured["held_out_loss"])
        return Moment(
            step=self.step,
            seconds=self.seconds,
            loss=loss,
            measured=measured,
            score=self.data_module.score(measured),
            best=best,
            rate=learning_rate(self.config, self.step - 1),
            gradient_norm=math.hypot(*self._norms.values()),
            gradient_norms=self._norms,
            tokens_per_second=tokens / seconds,
            memory=memory_used(self.device),
        )

    def _refuse_divergence(self, loss: float) -> None:
        """Raise `TrainingError` if `loss`, of training data, is NaN or shows divergence."""
        uniform = math.log(self.model.config.target_vocabulary)
        if not loss <= _DIVERGED * uniform:  # also true of NaN
            facts = {"loss": f"{loss:.3g}", "uniform": f"{uniform:.2g}"}
            rate = f"{self.config.rate:g}"
            raise TrainingError("diverged", step=self.step, rate=rate, **facts)


def gradient_norms(model: Transformer) -> dict[str, float]:
    """The gradient's norm by layer; other weights by their module ("encoder.embedding")."""
    squares: dict[str, float] = {}
    for name, weight in model.named_parameters():
        if weight.grad is not None:
            parts = name.split(".")
            layer = ".".join(parts[: 3 if "layers" in parts else 2])
            squares[layer] = squares.get(layer, 0.0) + float(weight.grad.norm()) ** 2
    return {layer: math.sqrt(square) for layer, square in squares.items()}


def memory_used(device: torch.device) -> float:
    """The peak in MB: of the GPU, or of this whole process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    if sys.platform == "win32":
        return math.nan
    import resource  # not there on Windows

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
