"""The score of one cell, split by the sources of its query and of its key."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F

from explorer.core.errors import InterventionError, TraceError
from explorer.core.interventions import stated
from explorer.core.sites import Head
from explorer.core.trace import Trace, is_index, refuse_no_number
from explorer.heads.contributions.frozen_norm import Array
from explorer.heads.contributions.library_stream import ScoreSides, library_pass, score_sides
from explorer.heads.contributions.residual_stream import ALL, residual_stream, whole_trace
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import MODULES, STACKS
from explorer.model.measurable import MeasurableModel

_ADDED = "distance"
"""The part of a bias by the distance of query and key, which T5 adds to the products."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreParts:
    """One score of a head, before the mask and after the division by √K, as a sum.

    query, key: positions from 0; query_token, key_token: their labels.
    score: as it was captured. weight: after the softmax, 0 to 1; 0 where the cell is masked.
    parts: DataFrame: query_part, key_part, value; the values sum to `score`. The parts are
        "token" and "position", the embedding; the sublayers below, such as "cross.0" and
        "feed_forward.0"; "bias", of the projection and of the LayerNorms; in T5 also "distance",
        what it adds by the distance of query and key.
    """

    head: Head
    query: int
    key: int
    query_token: str
    key_token: str
    score: float
    weight: float
    parts: pd.DataFrame

    @property
    def table(self) -> pd.DataFrame:
        """The values with a row for each part of the query, a column for each of the key."""
        table = self.parts.pivot(index="query_part", columns="key_part", values="value")
        return table.loc[self.parts.query_part.unique(), self.parts.key_part.unique()]

    def __repr__(self) -> str:
        cell = f"{self.query} {self.query_token!r} → {self.key} {self.key_token!r}"
        return f"ScoreParts({self.head}, {cell}: {self.score:.3f}, {len(self.parts)} parts)"


@dataclass(frozen=True, slots=True, eq=False)
class PartVectors:
    """Summands of the queries and of the keys of one head.

    queries, keys: by part, as in `ScoreParts`, (position, K). scale: the factor of the products,
        1 / √K in a model trained here.
    distance: (query, key), the part of that name; None without one.
    """

    queries: Mapping[str, Array]
    keys: Mapping[str, Array]
    scale: float
    distance: Array | None = None


def score_parts(
    model: MeasurableModel,
    text: str,
    site: str,
    layer: int,
    head: int,
    query: int,
    key: int,
    **options: Any,
) -> ScoreParts:
    """Split the score q · k / √K of query position `query` and key position `key` into parts.

    >>> model = explorer.load("checkpoints/reverse.safetensors")
    >>> model.score_parts("7 3 9", "encoder", 0, 3, query=2, key=0).table.columns.tolist()
    ['token', 'position', 'bias']

    In the first layer the query is W_Q (token + position) + b_Q and the key likewise, so that
    content against content, content against position and so on add up. In higher layers, the input
    from the residual stream is a sum of the embedding and the outputs of all sublayers below, with
    the scale of each LayerNorm frozen at this pass's value; the keys of "cross" come from the
    encoder. All products of a part of the query and a part of the key are listed. Exact. Rotary
    positions are no part: they turn each part, and the products are those of turned vectors.

    A part that is the same for all keys, as the key's bias is in the first layer, moves no weight:
    compare the parts of two keys. The output of a lower sublayer may itself carry content or
    position; it is not split further.

    query, key: positions from 0. options: of `trace`, such as target, force or ablate, but not
        capture, layers and sites.

    Raises what `trace` does, `ConfigError` on such an option and on a model of the library whose
    layers are no sums or that norms queries or keys, `TraceError` on a head that does not exist,
    and `InterventionError` on a cell outside.
    """
    trace = whole_trace(model, text, options)
    _refuse_outside(trace, Head(site, layer, head), query, key)
    place = (layer, head, query, key)
    cell = slice(query, query + 1), slice(key, key + 1)
    if isinstance(model, ExplorableModel):
        parts = part_vectors(model, trace, Head(site, layer, head), *cell)
    else:
        found = library_pass(model, trace, options.get("means"))
        parts = _of_library(score_sides(model, found, Head(site, layer, head)), *cell)
    return ScoreParts(
        Head(site, layer, head),
        query,
        key,
        trace.queries(site)[query],
        trace.keys(site)[key],
        float(trace.scores(site)[place]),
        float(trace.attention(site)[place]),
        _products(parts),
    )


def parts_of(model: MeasurableModel, shown: Trace, head: Head) -> PartVectors:
    """Summands of the queries and keys of `head` in a trace of a model of the library.

    Raises `ConfigError` as `score_parts`.
    """
    return _of_library(score_sides(model, library_pass(model, shown), head), ALL, ALL)


def _of_library(sides: ScoreSides, *cells: slice) -> PartVectors:
    """The summands at some positions, and what the family adds to their products."""
    made = []
    given = zip(sides.sources, sides.weights, sides.turns, cells, strict=True)
    for sources, (weight, bias), turn, rows in given:
        found = {name: vectors[rows] @ weight for name, vectors in sources.items()}
        own_bias = found.pop("bias") + bias
        found = {**found, "bias": own_bias}
        made.append({name: turn.of(one, rows) if turn else one for name, one in found.items()})
    queries, keys = made
    added = None if sides.added is None else sides.added[cells]
    return PartVectors(queries, keys, sides.scale, added)


def part_vectors(
    model: ExplorableModel, trace: Trace, head: Head, queries: slice = ALL, keys: slice = ALL
) -> PartVectors:
    """Summands of the queries and keys of `head`, at some positions.

    trace: of `model`, all layers of all sites captured in full.
    """
    return PartVectors(
        _vectors_of(model, trace, head, "query", queries),
        _vectors_of(model, trace, head, "key", keys),
        _scale(model, trace),
    )


def _vectors_of(
    model: ExplorableModel, trace: Trace, head: Head, side: str, rows: slice
) -> dict[str, Array]:
    """Vectors (position, K) by part; their sum is the head's queries or keys."""
    query_stack, key_stack = STACKS[head.site]
    stack = query_stack if side == "query" else key_stack
    own_stack = stack == query_stack
    stream = residual_stream(model, trace, stack, rows)
    sources = stream.sources(f"{head.site}.{head.layer}" if own_stack else None)
    module = model.transformer.get_submodule(MODULES[head.site].format(head.layer))
    exact = copy.deepcopy(module).cpu().double()
    of_biases = sources.pop("bias")
    bias = _projected(exact, head, side, np.zeros_like(of_biases), rows)
    found = {
        name: _projected(exact, head, side, part, rows) - bias for name, part in sources.items()
    }
    return {**found, "bias": _projected(exact, head, side, of_biases, rows)}


def _projected(attention: Any, head: Head, side: str, inputs: Array, rows: slice) -> Array:
    """The queries or keys (position, K) of one head that `attention` makes of `inputs`
    (position, D) at these rows: an affine map at each position."""
    first = rows.start or 0
    x = F.pad(torch.from_numpy(inputs), (0, 0, first, 0))[None]  # (1, L, D)
    with torch.no_grad():
        if head.site != "cross":
            made = attention.project(x)[side == "key"]
        else:
            made = attention.queries(x) if side == "query" else attention.project(x)[0]
    return made[0, head.head, first:].numpy()


def _products(parts: PartVectors) -> pd.DataFrame:
    """Products of the parts of the first query and of the first key, and what is added to them."""
    queries, keys = (
        np.stack([vectors[0] for vectors in side.values()]) for side in (parts.queries, parts.keys)
    )
    values = queries @ keys.T * parts.scale
    pairs = [(query, key) for query in parts.queries for key in parts.keys]
    table = pd.DataFrame(pairs, columns=["query_part", "key_part"]).assign(value=values.ravel())
    if parts.distance is None:
        return table
    added = {"query_part": _ADDED, "key_part": _ADDED, "value": parts.distance[0, 0]}
    return pd.concat([table, pd.DataFrame([added])], ignore_index=True)


def _scale(model: ExplorableModel, trace: Trace) -> float:
    """1 / √K, or 1 in a pass without the scaling."""
    omitted = "scaling" in stated(trace.facts).omitted
    return 1.0 if omitted else model.transformer.config.head_width**-0.5


def refuse_missing(trace: Trace, head: Head) -> None:
    """Raise `TraceError` on a head that `trace` does not have."""
    layers, heads = trace.attention(head.site).shape[:2]
    if not (is_index(head.layer, layers) and is_index(head.head, heads)):
        refuse_no_number(TraceError, layer=head.layer, head=head.head)
        sizes = {"layers": layers, "heads": heads}
        raise TraceError("no_such_head", head=head, site=head.site, **sizes)


def _refuse_outside(trace: Trace, head: Head, query: int, key: int) -> None:
    refuse_missing(trace, head)
    queries, keys = trace.attention(head.site).shape[2:]
    if not (is_index(query, queries) and is_index(key, keys)):
        refuse_no_number(InterventionError, query=query, key=key)
        sizes = {"queries": queries, "keys": keys}
        raise InterventionError("no_such_cell", site=head.site, row=query, column=key, **sizes)
