"""Norms of the value-weighted vectors: how much each key adds to a query, beside its weight."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.core.trace import Trace
from explorer.model.explorable import ExplorableModel

if TYPE_CHECKING:
    from explorer.model.huggingface.traced_model import HuggingFaceModel


@torch.inference_mode()
def value_norms(
    model: "ExplorableModel | HuggingFaceModel", trace: Trace
) -> dict[str, NDArray[np.float32]]:
    """‖A[q,k]·(x_k W_V + b_V) W_O‖ of every head, by site: (layer, head, query, key), ≥ 0.

    The length of the vector that each key adds to a query; the weight alone does not give it.
    Rows do not sum to 1. trace: captured in full; otherwise raises `TraceError`. Raises
    `ConfigError` for a family of the library that has no such W_O. b_O belongs to no key and is
    left out. Source: Kobayashi et al. 2020, arXiv 2004.10102.
    """
    projections = model.output_weights()
    captured = trace.facts.get("captured_layers", {})
    norms = {}
    for site in trace.sites:
        values = torch.from_numpy(trace.values(site).copy())  # (layer, head, key, K)
        lengths = []
        for layer, of_layer in zip(captured.get(site, range(len(values))), values, strict=True):
            by_head = projections[site][layer].unflatten(0, of_layer.shape[::2])  # (head, K, D)
            lengths.append((of_layer @ by_head).norm(dim=-1))  # (head, key)
        norms[site] = trace.attention(site) * torch.stack(lengths).numpy()[:, :, None]
    return norms
