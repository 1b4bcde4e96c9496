"""The offset that a head prefers by its queries and keys alone, when all tokens are the same.

In rows of one token repeated only positions differ. A head looks at an offset there as in any text
if it goes by position (Voita et al. 2019, arXiv 1905.09418: positional heads). With rotary
positions the score of a row's token is qᵀ R(distance) k, of its own query and key.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from explorer.core.sites import Head
from explorer.core.vocabulary import SPECIALS
from explorer.heads.circuits.silenced import captured_alone
from explorer.heads.metrics.attention_metrics import OFFSETS, Cells, Weights, offsets, positional
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.roles.shuffled_keys import offset_chance
from explorer.model.masks import path_mask
from explorer.model.transformer import Transformer

POSITIONS = 24
"""Positions of a row of one token repeated."""

ROWS = 64
"""Tokens that are repeated, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRows:
    """Self-attention of one layer on rows of one token repeated, all other sublayers silenced.

    weights: (N, H, L, L). unmasked: (N, L, L).
    """

    site: str
    layer: int
    weights: Weights
    unmasked: Cells


@dataclass(frozen=True, slots=True, eq=False)
class PreferredOffset:
    """offset: key − query. share: (row, 1) of the queries that look there most. chance: its level
    by chance, over all orders of the keys."""

    offset: int
    share: PerExampleMean
    chance: float


def preferred_offsets(layers: Iterable[RepeatedRows]) -> dict[Head, PreferredOffset]:
    """Of every head of these layers."""
    found: dict[Head, PreferredOffset] = {}
    for one in layers:
        chances = offset_chance(one.unmasked, one.weights.shape[1]).mean  # (H, δ)
        best, share = positional(offsets(one.weights, one.unmasked))
        for head, offset in enumerate(best.tolist()):
            own = PerExampleMean(share.total[:, [head]], share.count[:, [head]])
            chance = float(chances[head, OFFSETS.index(offset)])
            found[Head(one.site, one.layer, head)] = PreferredOffset(offset, own, chance)
    return found


def own_repeated_rows(model: Transformer) -> Iterator[RepeatedRows]:
    """Those of a model trained here."""
    config = model.config
    length = min(POSITIONS, config.max_length)
    sizes = {"encoder": config.source_vocabulary, "decoder": config.target_vocabulary}
    for site, size in sizes.items():
        ids = torch.arange(len(SPECIALS), size)[:ROWS, None].repeat(1, length)  # (N, L)
        real = torch.ones_like(ids, dtype=torch.bool)
        unmasked = path_mask(site, real, real, causal=config.causal).numpy()  # (N, L, L)
        layers = captured_alone(model, site, ids, "pattern") if config.layers(site) else []
        for layer, weights in enumerate(layers):
            yield RepeatedRows(site, layer, weights.cpu().numpy(), unmasked)
