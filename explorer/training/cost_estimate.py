"""Estimate of a training's cost before it starts: parameters, memory and time.

The time is that of the newest finished run of similar size on this machine; without one, a
rough estimate by the number of operations, shown as such.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

from explorer.core.i18n import say
from explorer.training.config import TrainingConfig
from explorer.training.run_directory import list_runs

SIMILAR = 2.0
"""Two trainings are similar when neither their parameters nor their batches differ more."""

_ON_GPU = 3e13  # floating-point operations a second on small layers
_ON_CORE = 3e10
_OVERHEAD = 0.005  # seconds: the least a step takes
_EVALUATION = 2.5  # duration of an evaluation in steps
_TRANSLATING = 12.0  # the same, translating hundreds of sentences
_SENTENCE = 12.0  # pieces of an average sentence, on each side
_FILLED = 0.95  # share of a batch of similarly long texts that is not padding
_LOGITS = 4  # copies of the logits in a step: output, as float32, softmax, gradient
_PROCESS = 450.0  # MB of Python and torch


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cost of a training.

    memory: MB; seconds: at most; measured: whether the time is that of an earlier run.
    """

    parameters: int
    memory: float
    seconds: float
    measured: bool


def estimate(config: TrainingConfig, runs: Path) -> Estimate:
    """The cost of `config`; runs: the folder of earlier runs that the time is taken from."""
    parameters = config.model_config().parameters
    speed = measured_speed(config, parameters, runs)
    tokens = config.steps * tokens_a_step(config)
    seconds = tokens / speed if speed else _rough_seconds(config, parameters)
    return Estimate(parameters, _memory(config, parameters), seconds, speed is not None)


def estimate_text(found: Estimate, device: str, language: str) -> str:
    """The estimate as a line: "0.2 M parameters · 0.5 GB · about 20 s on this CPU"."""
    where = say("train.this_cpu" if device.startswith("cpu") else "train.this_gpu", language)
    return say(
        "train.estimate" if found.measured else "train.estimate_rough",
        language,
        parameters=short_count(found.parameters),
        memory=f"{max(found.memory / 1024, 0.1):.1f}",
        time=short_time(found.seconds, language),
        where=where,
    )


def tokens_a_step(config: TrainingConfig) -> float:
    """Source and target tokens of an average batch, BOS and EOS included.

    Lengths of a toy task are uniform; most sentences are far shorter than the longest.
    """
    if config.pairs and config.batch_tokens:
        return config.batch_tokens * _FILLED
    if config.pairs:
        return config.batch * (2 * min(config.longest, _SENTENCE) + 3)
    return config.batch * (config.longest + 1 + 3)


def measured_speed(config: TrainingConfig, parameters: int, runs: Path) -> float | None:
    """Tokens a second of the newest finished run of similar size on this device, or None."""
    for run in list_runs(runs):
        other = run.config
        if other.device != config.device or other.precision != config.precision:
            continue
        if bool(other.pairs) != bool(config.pairs):
            continue
        if not (_similar(config.batch, other.batch) and _similar(config.longest, other.longest)):
            continue
        if (
            not _similar(parameters, other.model_config().parameters)
            or run.status().state != "done"
        ):
            continue
        last = (run.moments() or [{}])[-1]
        seconds = last.get("seconds")  # evaluations included
        if isinstance(seconds, int | float) and seconds > 0:
            return float(last["step"] * tokens_a_step(other) / seconds)
    return None


def short_count(count: int) -> str:
    """ "0.2 M"."""
    return f"{count / 1e6:.1f} M" if count >= 50_000 else f"{count / 1e3:.0f} k"


def short_time(seconds: float, language: str) -> str:
    """Seconds, minutes or hours, rounded as befits an estimate; "?" for infinity."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 90:
        count = round(seconds) if seconds < 20 else 5 * round(seconds / 5)
        return say("train.seconds", language, count=max(1, count))
    if seconds < 90 * 60:
        return say("train.minutes", language, count=round(seconds / 60))
    return say("train.hours", language, count=f"{seconds / 3600:.1f}")


def _similar(one: float, other: float) -> bool:
    return max(one, other) <= SIMILAR * min(one, other)


def _rough_seconds(config: TrainingConfig, parameters: int) -> float:
    """Seconds at six operations per parameter and token, on an ordinary machine."""
    speed = _ON_CORE * max(1, (os.cpu_count() or 2) - 1)
    if not config.device.startswith("cpu"):
        speed = _ON_GPU
    tokens = tokens_a_step(config)  # sentences are batched by length: little padding
    if not config.pairs:
        tokens = config.batch * (2 * config.longest + 3)  # with padding
    step = _OVERHEAD + 6 * parameters * tokens / speed / 2
    evaluation = _TRANSLATING if config.pairs else _EVALUATION
    return step * (config.steps + evaluation * config.steps / config.evaluate_every)


def _memory(config: TrainingConfig, parameters: int) -> float:
    """MB: weights, gradients and Adam's two moments; activations; logits of the longest batch,
    which are most of it where there are thousands of pieces; and the process."""
    layers = config.encoder_layers + 2 * config.decoder_layers
    rows = (config.batch_tokens / 2 or config.batch * (config.longest + 2)) / config.accumulate
    activations = rows * layers * (10 * config.d_model + 2 * config.d_ff + 3 * config.longest)
    activations += rows * _LOGITS * config.model_config().target_vocabulary
    process = _PROCESS if config.device.startswith("cpu") else 0.0
    return process + (16 * parameters + 4 * activations) / 2**20
