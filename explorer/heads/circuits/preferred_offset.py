"""The offset that a head prefers by its queries and keys alone, when all tokens are the same.

In rows of one token repeated only positions differ. A head looks at an offset there as in any text
if it goes by position (Voita et al. 2019, arXiv 1905.09418: positional heads).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from explorer.core.sites import Head
from explorer.core.vocabulary import SPECIALS
from explorer.heads.circuits.silenced import captured_alone
from explorer.heads.metrics.attention_metrics import OFFSETS, offsets, positional
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.roles.shuffled_keys import offset_chance
from explorer.model.masks import path_mask
from explorer.model.transformer import Transformer

POSITIONS = 24
"""Positions of a row of one token repeated."""

ROWS = 64
"""Tokens that are repeated, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class PreferredOffset:
    """offset: key − query. share: (row, 1) of the queries that look there most. chance: its level
    by chance, over all orders of the keys."""

    offset: int
    share: PerExampleMean
    chance: float


def preferred_offsets(model: Transformer) -> dict[Head, PreferredOffset]:
    """Of every head of self-attention, with all other sublayers silenced."""
    return dict(_found(model))


def _found(model: Transformer) -> Iterator[tuple[Head, PreferredOffset]]:
    config = model.config
    length = min(POSITIONS, config.max_length)
    sizes = {"encoder": config.source_vocabulary, "decoder": config.target_vocabulary}
    for site, size in sizes.items():
        ids = torch.arange(len(SPECIALS), size)[:ROWS, None].repeat(1, length)  # (N, L)
        real = torch.ones_like(ids, dtype=torch.bool)
        unmasked = path_mask(site, real, real, causal=config.causal).numpy()  # (N, L, L)
        chances = offset_chance(unmasked, config.heads).mean  # (H, δ)
        layers = captured_alone(model, site, ids, "pattern") if config.layers(site) else []
        for layer, weights in enumerate(layers):
            best, share = positional(offsets(weights.cpu().numpy(), unmasked))
            for head, offset in enumerate(best.tolist()):
                own = PerExampleMean(share.total[:, [head]], share.count[:, [head]])
                chance = float(chances[head, OFFSETS.index(offset)])
                yield Head(site, layer, head), PreferredOffset(offset, own, chance)
