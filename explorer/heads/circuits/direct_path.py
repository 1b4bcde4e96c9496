"""The direct path of an attention: it reads embeddings alone and writes straight to the logits.

Everything else in the model is silent, positions too. What is left is a head's output for a token
that it looks at alone, and what each number of an output adds to the logits. A LayerNorm behind it
is linear at a fixed scale, which is left out: it is alike for all tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

import torch
from torch import Tensor, nn

from explorer.core.vocabulary import SPECIALS, Vocabulary
from explorer.heads.circuits.silenced import captured_alone
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import edit, path, residual_path
from explorer.model.transformer import Residual, Transformer

FEWEST_SHARED = 5
"""With fewer tokens in both vocabularies there is no direct path."""

MOST_TOKENS = 500
"""Tokens whose outputs are computed, at most; they are spread evenly over the vocabulary."""

WRITES = ("decoder", "cross")
"""The sites whose heads write to the logits."""


@dataclass(frozen=True, slots=True, eq=False)
class DirectPath:
    """The heads of one attention on the direct path.

    read: (V,) ids of the tokens that a head can both look at and write, as it reads them.
    outputs: (N, H, K), what each head gives out for some of them, looked at alone.
    own: (N,), their numbers in V.
    to_logits: gives (H, K, V), what each number of an output adds to the logits of the V tokens.
    """

    site: str
    layer: int
    read: Tensor
    outputs: Tensor
    own: Tensor
    to_logits: Callable[[], Tensor]


def own_direct_paths(model: ExplorableModel) -> Iterator[DirectPath]:
    """Those of a model trained here."""
    transformer = model.transformer
    for site in WRITES:
        read, written = shared_ids(model, site)
        if len(read) < FEWEST_SHARED:
            continue
        own = spread(len(read))
        with edit(transformer, {"*.position_vectors": torch.zeros_like}):
            layers = captured_alone(transformer, site, read[own, None], "values")
        for layer, values in enumerate(layers):

            def to_logits(site: str = site, layer: int = layer, ids: Tensor = written) -> Tensor:
                return _logit_maps(transformer, site, layer, ids)

            yield DirectPath(site, layer, read, values[:, :, 0], own, to_logits)


def spread(count: int) -> Tensor:
    """At most `MOST_TOKENS` of the numbers below `count`, spread evenly."""
    return torch.arange(0, count, -(-count // MOST_TOKENS))


def shared_ids(model: ExplorableModel, site: str) -> tuple[Tensor, Tensor]:
    """Ids (V,) of the tokens that a head can both look at and write, as read and as written.

    Special tokens, and all but one of those with the same label, are left out.
    """
    reads = model.target_vocabulary if site == "decoder" else model.source_vocabulary
    read, written = (_by_label(side) for side in (reads, model.target_vocabulary))
    shared = [label for label in read if label in written and model.transformer.config.layers(site)]
    ids = ([side[label] for label in shared] for side in (read, written))
    return tuple(torch.tensor(side, dtype=torch.long) for side in ids)  # type: ignore[return-value]


def _logit_maps(model: Transformer, site: str, layer: int, ids: Tensor) -> Tensor:
    projection: Any = model.get_submodule(path(site, layer, "output"))
    weight: Tensor = projection.weight.T  # (H · K, D)
    for norm in _norms_after(model, site, layer):
        weight = (weight - weight.mean(-1, keepdim=True)) * norm.weight
    return (weight @ model.logits.weight[ids].T).view(model.config.heads, -1, len(ids))


def _norms_after(model: Transformer, site: str, layer: int) -> list[nn.LayerNorm]:
    """The LayerNorms between the output of an attention and the logits, the nearest first."""
    if model.config.norm == "pre":
        return [model.decoder.norm]  # type: ignore[list-item]  # the last one
    own = model.get_submodule(residual_path(site, layer, "input").rpartition(".")[0])
    norms = [module for module in model.decoder.modules() if isinstance(module, Residual)]
    return list(dropwhile(lambda norm: norm is not own, norms))


def _by_label(vocabulary: Vocabulary) -> dict[str, int]:
    ids = range(len(SPECIALS), len(vocabulary))
    return dict(zip(vocabulary.labels(ids), ids, strict=True))
