"""The offset that a head prefers by its queries and keys alone, when all tokens are the same.

In rows of one token repeated only positions differ. A head looks at an offset there as in any text
if it goes by position (Voita et al. 2019, arXiv 1905.09418: positional heads). With rotary
positions the score of a row's token is qᵀ R(distance) k, of its own query and key.

The offset is the best of all, and the best of all is common by chance, too. So chance is the same
statistic with the keys of each query in a random order. The order is the same in all rows: they
differ in their token alone, so that a head without regard to positions looks alike in many of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.core.sites import Head
from explorer.core.vocabulary import SPECIALS
from explorer.heads.circuits.silenced import captured_alone
from explorer.heads.metrics.attention_metrics import (
    Cells,
    Weights,
    largest_keys,
    offsets,
    offsets_of_peaks,
    positional,
)
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.model.masks import path_mask
from explorer.model.transformer import Transformer

POSITIONS = 24
"""Positions of a row of one token repeated."""

ROWS = 64
"""Tokens that are repeated, at most."""

SHUFFLES = 200
"""Random orders of the keys."""


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRows:
    """Self-attention of one layer on rows of one token repeated, all other sublayers silenced.

    weights: (N, H, L, L). unmasked: (N, L, L), the same in all rows.
    """

    site: str
    layer: int
    weights: Weights
    unmasked: Cells


@dataclass(frozen=True, slots=True, eq=False)
class PreferredOffset:
    """offset: key − query. share: (row, 1) of the queries that look there most. by_chance:
    (shuffle,), the share at the best offset of each random order of the keys."""

    offset: int
    share: PerExampleMean
    by_chance: NDArray[np.float64]


def preferred_offsets(layers: Iterable[RepeatedRows]) -> dict[Head, PreferredOffset]:
    """Of every head of these layers."""
    found: dict[Head, PreferredOffset] = {}
    for one in layers:
        by_chance = _by_chance(one)
        best, share = positional(offsets(one.weights, one.unmasked))
        for head, offset in enumerate(best.tolist()):
            own = PerExampleMean(share.total[:, [head]], share.count[:, [head]])
            place = Head(one.site, one.layer, head)
            found[place] = PreferredOffset(offset, own, by_chance[:, head])
    return found


def _by_chance(rows: RepeatedRows) -> NDArray[np.float64]:
    """(shuffle, head), the share at the best offset."""
    unmasked = rows.unmasked[:1]  # (1, L, L)
    peaks = largest_keys(rows.weights, rows.unmasked).mean(0)  # (H, L, L)
    orders = _orders(unmasked[0])[:, None]  # (shuffle, 1, L, L)
    shuffled = np.take_along_axis(peaks[None], orders, -1)  # (shuffle, H, L, L)
    every = shuffled.reshape(1, -1, *unmasked.shape[1:])
    _, share = positional(offsets_of_peaks(every, unmasked))
    return share.mean.reshape(len(orders), len(peaks))


def _orders(unmasked: Cells) -> NDArray[np.int64]:
    """(shuffle, L, L) keys of each query, its unmasked ones in a random order among themselves."""
    drawn = np.random.default_rng(0).random((SHUFFLES, *unmasked.shape))
    random = np.argsort(drawn + ~unmasked, -1)  # the unmasked ones first
    places = np.argsort(np.argsort(~unmasked, -1, kind="stable"), -1)
    return np.take_along_axis(random, np.broadcast_to(places, random.shape), -1)


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
