"""Assemble the `Trace` of a source and its decoded tokens, with the early predictions: the most
probable tokens if a decoder layer were the last one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.trace import Trace
from explorer.core.vocabulary import BOS, EOS
from explorer.data.continued_data import aligned_task
from explorer.data.task_names import task_of
from explorer.model.checkpoint import Checkpoint
from explorer.model.row_logits import RowLogits, step_columns

EARLY = 3
"""Number of early predictions that full capture keeps after each layer."""


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """A source (S,), its decoded tokens (T,), the logits of each step, and the steps with a forced
    token, of which the first `prompt` are those of a prompt."""

    source: Tensor
    chosen: Tensor
    logits: RowLogits
    forced: frozenset[int] = frozenset()
    prompt: int = 0


def assembled(
    checkpoint: Checkpoint,
    decoded: Decoded,
    arrays: Mapping[str, NDArray[Any]],
    measured: Mapping[str, float],
    facts: Mapping[str, Any],
) -> Trace:
    """The trace of the model in `checkpoint`; arrays: of its attention."""
    source, chosen = decoded.source.tolist(), decoded.chosen.tolist()
    candidates, candidate_tokens = _candidates(checkpoint, decoded)
    early, early_tokens = _early_predictions(checkpoint, arrays)
    gold = _gold(checkpoint, source, chosen)
    return Trace(
        source_tokens=checkpoint.source_vocabulary.labels(source),
        target_tokens=checkpoint.target_vocabulary.labels([BOS, *chosen[:-1]]),
        predicted_tokens=checkpoint.target_vocabulary.labels(chosen),
        text=checkpoint.target_vocabulary.decode(chosen[decoded.prompt :]),
        arrays={**arrays, **early, **candidates, **gold},
        candidate_tokens=candidate_tokens,
        measured=measured,
        facts={**facts, **early_tokens, "ended": chosen[-1] == EOS},
    )


def _gold(
    checkpoint: Checkpoint, source: list[int], chosen: list[int]
) -> dict[str, NDArray[np.bool_]]:
    """The gold alignment (T, S), or of a decoder alone (T, T), for a model of a toy task; empty for
    other models."""
    task = task_of(checkpoint.facts)
    return {} if task is None else {"gold": aligned_task(task).gold(source, chosen)}


def _candidates(
    checkpoint: Checkpoint, decoded: Decoded
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """The columns of `Trace.steps`, and the labels of the candidates."""
    steps = range(1, len(decoded.chosen) + 1)
    imposed = torch.tensor([step in decoded.forced for step in steps])
    rows = torch.arange(len(imposed))
    # Padding and BOS never follow.
    arrays = step_columns(decoded.logits, rows, decoded.chosen, imposed, EOS)
    return arrays, checkpoint.target_vocabulary.labels(arrays["steps.id"].tolist())


def _early_predictions(
    checkpoint: Checkpoint, arrays: Mapping[str, NDArray[Any]]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts for `Trace.early_predictions`; both empty if no decoder layer was captured
    in full.

    The last LayerNorm and the map to logits are applied to the output of each layer
    (nostalgebraist 2020, "interpreting GPT: the logit lens"). Padding and BOS never follow.
    """
    outputs = arrays.get("decoder.layer_output")
    if outputs is None:
        return {}, {}
    transformer, vocabulary = checkpoint.model, checkpoint.target_vocabulary
    after = torch.tensor(outputs, device=transformer.device)
    hidden = transformer.decoder.norm(after)  # (layer, T, D)
    # One layer at a time: the logits of all layers are never in memory together.
    shown = min(EARLY, len(vocabulary) - EOS)
    best = [transformer.logits(layer).softmax(-1)[:, EOS:].topk(shown) for layer in hidden]
    ids = torch.stack([indices for _, indices in best]).cpu() + EOS  # (layer, T, rank)
    shares = torch.stack([values for values, _ in best]).cpu()
    return early_arrays(ids, shares, vocabulary.labels)


def early_arrays(
    ids: Tensor, shares: Tensor, labels: Callable[[list[int]], Sequence[str]]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts for `Trace.early_predictions`, from ids and probabilities (layer, T, rank).

    labels: of ids.
    """
    tokens = [[labels(row) for row in layer] for layer in ids.tolist()]
    arrays = {"early.id": ids.numpy(), "early.probability": shares.numpy()}
    return arrays, {"early_tokens": tokens}
