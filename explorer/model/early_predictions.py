"""Early predictions: the most probable tokens if a decoder layer were the last one."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray

from explorer.core.vocabulary import EOS, Vocabulary
from explorer.model.transformer import Transformer

EARLY = 3
"""Number of tokens that full capture keeps after each layer."""


def early_predictions(
    transformer: Transformer, vocabulary: Vocabulary, arrays: Mapping[str, NDArray[Any]]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts for `Trace.early_predictions`; both empty if no decoder layer was captured
    in full.

    The last LayerNorm and the map to logits are applied to the output of each layer
    (nostalgebraist 2020, "interpreting GPT: the logit lens"). Padding and BOS never follow.
    """
    outputs = arrays.get("decoder.layer_output")
    if outputs is None:
        return {}, {}
    after = torch.tensor(outputs, device=transformer.device)
    hidden = transformer.decoder.norm(after)  # (layer, T, D)
    # One layer at a time: the logits of all layers are never in memory together.
    shown = min(EARLY, len(vocabulary) - EOS)
    best = [transformer.logits(layer).softmax(-1)[:, EOS:].topk(shown) for layer in hidden]
    ids = torch.stack([indices for _, indices in best]).cpu() + EOS  # (layer, T, rank)
    shares = torch.stack([values for values, _ in best]).cpu()
    labels = [[vocabulary.labels(row) for row in layer] for layer in ids.tolist()]
    return {"early.id": ids.numpy(), "early.probability": shares.numpy()}, {"early_tokens": labels}
