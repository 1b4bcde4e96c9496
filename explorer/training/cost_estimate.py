"""Estimate of a training's cost before it starts: parameters, memory and time.

The time depends on the file of pairs, too: on the length of its texts, on the number translated at
each evaluation, and on the number of pairs that pieces are learnt from. It is taken from the newest
finished run of similar size on this machine; without one, it is a rough estimate from the number of
operations on an idle machine, and shown as such.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorer.core.json_values import number
from explorer.data.parallel_corpus import Pair
from explorer.training.config import TrainingConfig
from explorer.training.recorded_run import RunFiles

SIMILAR = 2.0
"""Two trainings are similar if their parameters and batches differ at most by this factor."""

_ON_GPU = 3e13  # floating-point operations a second on small layers
_ON_CORE = 3e10
_OVERHEAD = 0.005  # seconds: the least a step takes
_EVALUATION = 2.5  # duration of an evaluation in steps
_TRANSLATING = 12.0  # the same, translating hundreds of sentences
_SENTENCE = 12.0  # pieces of an average sentence, on each side, if the file is not known
_PIECE = 3.7  # characters of a piece
_CHINESE_PIECE = 1.4  # the same in scripts without spaces
_TRANSLATED = 200  # sources that each evaluation translates, at most
_PREPARING = 1e-4  # seconds a pair: reading it and learning pieces from it
_TRAINED = 0.9  # share of the pairs that is trained on
_FILLED = 0.95  # share of a batch of similarly long texts that is not padding
_LOGITS = 4  # copies of the logits in a step: output, as float32, softmax, gradient
_PROCESS = 450.0  # MB of Python and torch


@dataclass(frozen=True, slots=True)
class PairsSize:
    """Number of distinct pairs in a file, and approximate number of pieces of a text."""

    pairs: int
    pieces: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cost of a training.

    memory: MB; seconds: of all steps; measured: whether the time is taken from an earlier run.
    epochs: how often each pair is seen; None if the pairs are not known.
    """

    parameters: int
    memory: float
    seconds: float
    measured: bool
    epochs: float | None = None


def pairs_size(pairs: Sequence[Pair]) -> PairsSize:
    """The size of a file of `pairs`, estimated from at most a thousand of them."""
    some = pairs[:: max(1, len(pairs) // 1000)]
    texts = [text for pair in some for text in (pair.source, pair.target)]
    pieces = 0.0
    for text in texts:
        unspaced = sum("\u2e80" <= letter <= "\uffef" for letter in text)
        pieces += unspaced / _CHINESE_PIECE + (len(text) - unspaced) / _PIECE
    return PairsSize(len(pairs), pieces / max(len(texts), 1))


def estimate(
    config: TrainingConfig, finished: Iterable[RunFiles], size: PairsSize | None = None
) -> Estimate:
    """The cost of `config`.

    finished: the finished runs that the time is taken from, the newest first.
    size: of the file of pairs, if known.
    """
    parameters = config.model_config().parameters
    speed = measured_speed(config, parameters, finished)
    tokens = tokens_a_step(config, size.pieces if size else _SENTENCE)
    if speed:
        seconds = config.steps * tokens / speed
    else:
        seconds = _rough_seconds(config, parameters, tokens, size)
    epochs = None
    if size is not None:
        seconds += _PREPARING * size.pairs
        rows = tokens / (2 * size.pieces + 3) if config.batch_tokens else config.batch
        epochs = config.steps * rows / (_TRAINED * size.pairs)
    return Estimate(parameters, _memory(config, parameters), seconds, speed is not None, epochs)


def tokens_a_step(config: TrainingConfig, pieces: float = _SENTENCE) -> float:
    """Source and target tokens of an average batch, BOS and EOS included.

    Lengths of a toy task are uniform; most sentences are far shorter than the longest.
    pieces: of an average text of a file of pairs.
    """
    if config.of_sentences and config.batch_tokens:
        return config.batch_tokens * _FILLED
    if config.texts:
        return config.batch * (min(config.longest, pieces) + 2)
    if config.pairs:
        return config.batch * (2 * min(config.longest, pieces) + 3)
    return config.batch * (config.longest + 1 + 3)


def measured_speed(
    config: TrainingConfig, parameters: int, finished: Iterable[RunFiles]
) -> float | None:
    """Tokens a second of the first run of similar size on this device, or None."""
    for run in finished:
        other = run.config
        if other.device != config.device or other.precision != config.precision:
            continue
        if (bool(other.pairs), bool(other.texts)) != (bool(config.pairs), bool(config.texts)):
            continue
        if not (_similar(config.batch, other.batch) and _similar(config.longest, other.longest)):
            continue
        if not _similar(parameters, other.model_config().parameters):
            continue
        last = (run.moments() or [{}])[-1]
        seconds = last.get("seconds")  # evaluations included
        if isinstance(seconds, int | float) and seconds > 0:
            return float(last["step"] * tokens_a_step(other, _pieces(run)) / seconds)
    return None


def _similar(one: float, other: float) -> bool:
    return max(one, other) <= SIMILAR * min(one, other)


def _pieces(run: RunFiles) -> float:
    """Pieces of an average text of a run on pairs; older runs did not count them."""
    counts = run.data_facts().get("pairs")
    found = counts.get("pieces") if isinstance(counts, Mapping) else None
    return number(found, 1.0, 1e6, otherwise=_SENTENCE)


def _rough_seconds(
    config: TrainingConfig, parameters: int, tokens: float, size: PairsSize | None
) -> float:
    """Seconds at six operations per parameter and token, on an ordinary machine.

    tokens: of a step; sentences are batched by length, with little padding.
    """
    speed = _ON_CORE * max(1, (os.cpu_count() or 2) - 1)
    if not config.device.startswith("cpu"):
        speed = _ON_GPU
    if not config.of_sentences:
        tokens = config.batch * (2 * config.longest + 3)  # with padding
    sides = 2 if config.encoder_layers else 1  # each token passes through one of two stacks
    step = _OVERHEAD + 6 * parameters * tokens / speed / sides
    evaluation = _TRANSLATING if config.pairs else _EVALUATION
    if size is not None:  # one source in twenty is held out to be translated
        evaluation *= min(1.0, size.pairs / 20 / _TRANSLATED)
    return step * (config.steps + evaluation * config.steps / config.evaluate_every)


def _memory(config: TrainingConfig, parameters: int) -> float:
    """MB: weights, gradients and Adam's two moments; activations; logits of the longest batch; and
    the process. With thousands of pieces, the logits take most of it."""
    layers, sides = len(config.model_config().attentions), 2 if config.encoder_layers else 1
    rows = (config.batch_tokens / sides or config.batch * (config.longest + 2)) / config.accumulate
    activations = rows * layers * (10 * config.d_model + 2 * config.d_ff + 3 * config.longest)
    activations += rows * _LOGITS * config.model_config().target_vocabulary
    process = _PROCESS if config.device.startswith("cpu") else 0.0
    return process + (16 * parameters + 4 * activations) / 2**20
