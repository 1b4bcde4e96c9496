"""The most probable tokens after each layer of a decoder of the library, as if it were the last:
the logit lens, with the model's own last norm and head."""

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.streams.read_streams import LogitMap, ResidualPass
from explorer.model.huggingface.streams.residual_reading import residual_pass
from explorer.model.huggingface.tokens import Tokens
from explorer.model.row_logits import RowLogits
from explorer.model.trace_assembly import EARLY, early_arrays


def early_predictions(
    model: Any,
    anatomy: Anatomy,
    inputs: Inputs,
    edits: Edits,
    layers: Sequence[int],
    tokens: Tokens,
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts for `Trace.early_predictions`, from one more pass.

    layers: of the decoder. Both are empty without layers or without the weights in memory, in a
    family whose layers are no sums, and where the logits are no linear map of the decoder's output.
    """
    if not layers:
        return {}, {}
    try:
        found = residual_pass(model, anatomy, inputs, edits, attention=False)
    except ConfigError:
        return {}, {}
    if found.to_logits is None:
        return {}, {}
    return early_of(found, layers, tokens)


def early_of(
    found: ResidualPass, layers: Sequence[int], tokens: Tokens
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The same from a pass whose logits are a linear map of the decoder's output."""
    assert found.to_logits is not None
    outputs = found.stacks["decoder"].layer_outputs
    best = [_best(found.to_logits, outputs[layer]) for layer in layers]
    ids, shares = (torch.stack(of_layers) for of_layers in zip(*best, strict=True))
    return early_arrays(ids, shares, lambda row: [tokens.label(one) for one in row])


def _best(to_logits: LogitMap, states: Tensor) -> tuple[Tensor, Tensor]:
    """Ids and probabilities (T, rank) of the best tokens behind states (T, D)."""
    width = len(to_logits.weight)
    logits = RowLogits.of_states(states[None], lambda some: to_logits.logits(some), width)
    shown = min(EARLY, width)
    best = [logits.read(*block)[0].softmax(-1).topk(shown) for block in logits.blocks()]
    return torch.cat([one.indices for one in best]), torch.cat([one.values for one in best])
