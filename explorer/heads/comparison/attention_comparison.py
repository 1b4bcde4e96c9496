"""Two traces of the same tokens side by side: where their attention differs, and which of their
heads are alike.

The traces are of two models, of two moments of a training, or of one model with and without an
intervention; `trace_comparison` has the effect on the output. Two texts of one model have different
tokens and are compared position by position.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.mask_reasons import PADDING, UNMASKED
from explorer.core.trace import Trace, check_trace
from explorer.core.vocabulary import shorten

By = Literal["token", "position"]
"""Property that two traces share: tokens of queries and keys, or only their positions."""

_SIDES = ("source_tokens", "target_tokens")
_PLACE = ["site", "layer", "head"]

_MOST_CELLS = 2**18
"""Weights compared at once: they fit in a processor's cache."""


@dataclass(frozen=True, eq=False, repr=False)
class AttentionComparison:
    """Two traces with the same axes, see `compare`."""

    a: Trace
    b: Trace

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that both traces have."""
        return tuple(site for site in self.a.sites if site in self.b.sites)

    def difference(self, site: str) -> NDArray[np.float32]:
        """Weights of `a` minus those of `b`, (layer, head, query, key), −1 to 1.

        Raises `TraceError` on a site that one of them does not have, and where their layers or
        numbers of heads differ: `similarity` compares such heads.
        """
        one, other = self.a.attention(site), self.b.attention(site)
        sizes = [
            {"layers": ", ".join(map(str, trace.layer_numbers(site))), "heads": weights.shape[1]}
            for trace, weights in ((self.a, one), (self.b, other))
        ]
        if sizes[0] != sizes[1]:
            facts = {f"other_{name}": size for name, size in sizes[1].items()}
            raise TraceError("heads_differ", site=site, **sizes[0], **facts)
        return one - other

    @cached_property
    def similarity(self) -> pd.DataFrame:
        """How alike the maps of two heads are, 0 (no key in common) to 1 (equal); one row for each
        head of `a`, one column for each of `b`, labelled (site, layer, head).

        mean over queries of 1 − JSD(a's row ‖ b's row), the Jensen–Shannon divergence in bits: the
        entropy of the mean of both rows minus the mean of their entropies (Lin 1991). Padding
        queries are left out; in a model with attention sinks, the weight given to no key counts as
        one more key. A query with one unmasked key is alike in all heads. NaN between heads of
        different sites.
        """
        rows, columns = (_labels(trace, self.sites) for trace in (self.a, self.b))
        values = np.full((len(rows), len(columns)), np.nan)
        for site in self.sites:
            counted = _queries(self.a, site) & _queries(self.b, site)
            places = np.ix_(
                *(labels.get_level_values("site") == site for labels in (rows, columns))
            )
            one, other = (_distributions(trace, site, counted) for trace in (self.a, self.b))
            values[places] = _similarities(one, other)
        return pd.DataFrame(values, rows, columns)

    def matched(self) -> pd.DataFrame:
        """Each head of `a` with the head of `b` of the same site it is matched to, one to one.

        Greedy: the most similar pair of heads first, then the most similar of the remaining pairs;
        of equally similar pairs the one at the same place, then the first. The sum over all pairs
        need not be the largest possible. Columns: site, layer, head, other_layer, other_head,
        similarity, in the order of the heads of `a`. If a site has more heads in `a` than in `b`,
        unmatched heads have no row.
        """
        pairs = [pair for site in self.sites for pair in _matched(self.similarity, site)]
        columns = [*_PLACE, "other_layer", "other_head", "similarity"]
        return pd.DataFrame(pairs, columns=columns)

    def clustered(self, site: str) -> tuple[list[int], list[int]]:
        """Heads of `a` and of `b` at a site, ordered so that similar heads are neighbours.

        Heads are numbered from 0 through all layers of the site. Average linkage of the heads of
        both by 1 − similarity, leaves in the order with the least distance between neighbours
        (Bar-Joseph 2001), then split into the heads of each trace. So similar heads are near the
        diagonal of `similarity` in these orders.

        Raises `TraceError` on a site that one of them does not have.
        """
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

        for trace in (self.a, self.b):
            trace.attention(site)  # refuses a site that is not there
        counted = _queries(self.a, site) & _queries(self.b, site)
        own = [_distributions(trace, site, counted) for trace in (self.a, self.b)]
        heads = np.concatenate(own)
        distances = np.nan_to_num(1 - _similarities(heads, heads), nan=1.0)
        pairs = squareform(np.triu(distances, 1) + np.triu(distances, 1).T)
        leaves = leaves_list(linkage(pairs, "average", optimal_ordering=True)).tolist()
        count = len(own[0])
        ours = [leaf for leaf in leaves if leaf < count]
        return ours, [leaf - count for leaf in leaves if leaf >= count]

    def __repr__(self) -> str:
        names = (shorten(str(trace.facts.get("model", "a trace"))) for trace in (self.a, self.b))
        source = " ".join(self.a.source_tokens or self.a.target_tokens)
        return f"AttentionComparison({shorten(source)!r}: {' and '.join(names)})"


def compare(a: Trace, b: Trace, *, by: By = "token") -> AttentionComparison:
    """Two traces of equal tokens side by side: `difference(site)`, `similarity` and `matched()`.

    by: "position" for two texts of equally many tokens: each token is compared with the token at
        the same position.

    >>> names = ("reverse", "reverse-early")
    >>> models = [explorer.load(f"checkpoints/{name}.safetensors") for name in names]
    >>> late, early = (model.trace("7 3 9", target="9 3 7") for model in models)
    >>> explorer.compare(late, early).difference("cross").shape  # (layer, head, query, key)
    (2, 4, 4, 4)

    Where two models decode different outputs, force one to that of the other:
    `model.trace(text, target=other.text)`.

    Raises `TraceError` when one is not a trace, when their tokens differ (by position: the numbers
    of tokens), and when they have no site in common.
    """
    check_trace(a)
    check_trace(b)
    if by not in get_args(By):
        raise TraceError("compared_by", by=by)
    for side in _SIDES:
        one, other = getattr(a, side), getattr(b, side)
        if by == "token":
            _refuse_other_tokens(f"other_{side}", one, other)
        elif len(one) != len(other):
            raise TraceError(f"count_of_{side}", a=len(one), b=len(other))
    compared = AttentionComparison(a, b)
    if not compared.sites:
        facts = {"sites": ", ".join(a.sites), "others": ", ".join(b.sites)}
        raise TraceError("no_common_site", **facts)
    return compared


def _refuse_other_tokens(key: str, one: Sequence[str], other: Sequence[str]) -> None:
    """Raise `TraceError`, with the sentence `key`, naming the first token that differs."""
    for position, pair in enumerate(zip_longest(one, other)):
        if pair[0] != pair[1]:
            a, b = ("–" if token is None else token for token in pair)  # the shorter has ended
            raise TraceError(key, position=position, a=a, b=b)


def _labels(trace: Trace, sites: Sequence[str]) -> pd.MultiIndex:
    """(site, layer, head) of every head of these sites."""
    heads = [
        (site, layer, head)
        for site in sites
        for layer in trace.layer_numbers(site)
        for head in range(trace.attention(site).shape[1])
    ]
    of_site, layers, numbers = zip(*heads, strict=True)
    # Categories keep the order of the sites, without which pandas warns of slow look-ups.
    named = pd.Series(of_site, dtype=pd.CategoricalDtype(list(sites)))
    return pd.MultiIndex.from_arrays([named, layers, numbers], names=_PLACE)


def _queries(trace: Trace, site: str) -> NDArray[np.bool_]:
    """(query,) True if a query counts: it is not padding and has an unmasked key in each head."""
    mask_codes = trace.arrays[f"{site}.closed"]
    mask_codes = mask_codes.reshape(-1, *mask_codes.shape[-2:])
    counted: NDArray[np.bool_] = (mask_codes == UNMASKED).any(-1).all(0)
    padding = (mask_codes == PADDING).any((0, 1))  # (key,)
    return counted if site == "cross" else counted & ~padding


def _distributions(trace: Trace, site: str, queries: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The rows of these queries in each head, (head, row, key + 1); the last column is the sink.
    Each sums to 1, also where it was computed in half precision."""
    weights = trace.attention(site)
    sink = trace.arrays.get(f"{site}.sink", np.zeros(weights.shape[:-1]))
    rows = np.concatenate([weights, sink[..., None]], -1)[:, :, queries].astype(np.float64)
    rows /= rows.sum(-1, keepdims=True)
    return rows.reshape(-1, *rows.shape[2:])


def _similarities(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 − mean divergence of each pair of heads, from their rows (head, row, key)."""
    if not one.shape[1]:
        return np.full((len(one), len(other)), np.nan)
    found = np.empty((len(one), len(other)))
    entropies, others = _entropies(one), _entropies(other)  # (head, row)
    block = max(1, _MOST_CELLS // one[0].size)
    for start in range(0, len(other), block):
        part = slice(start, start + block)
        for number, rows in enumerate(one):
            joint = _entropies((rows + other[part]) / 2)
            divergences = joint - (entropies[number] + others[part]) / 2
            found[number, part] = 1 - divergences.clip(0, 1).mean(-1)
    return found


def _entropies(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropies of distributions (…, key), in bits."""
    logarithms = np.log2(np.maximum(rows, np.finfo(rows.dtype).tiny))  # a weight of 0 adds 0
    entropies: NDArray[np.float64] = -np.einsum("...k,...k->...", rows, logarithms)
    return entropies


def _matched(similarity: pd.DataFrame, site: str) -> Iterator[tuple[Any, ...]]:
    """The rows of `matched` of one site."""
    here = [labels.get_level_values("site") == site for labels in similarity.axes]
    heads, others = (
        [place[1:] for place in labels[own]]
        for labels, own in zip(similarity.axes, here, strict=True)
    )
    values = similarity.to_numpy()[np.ix_(*here)]

    def order(pair: tuple[int, int]) -> tuple[float, bool]:
        one, other = pair
        return -values[pair], heads[one] != others[other]

    chosen: dict[int, int] = {}
    for one, other in sorted(np.ndindex(values.shape), key=order):
        if one not in chosen and other not in chosen.values():
            chosen[one] = other
    for one, other in sorted(chosen.items()):
        yield (site, *heads[one], *others[other], float(values[one, other]))
