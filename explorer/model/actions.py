"""Interventions and gates as actions on the points of a pass, for any model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TypeAlias

import torch
from torch import Tensor

from explorer.core.errors import InterventionError, MaskError
from explorer.core.interventions import Interventions
from explorer.core.sites import SITES, Head
from explorer.core.verbs import CellEdit, Drawing, Omission, OnAttention, RowOverride, head_name
from explorer.model.points import Action, Point, first_query

Fills: TypeAlias = Mapping[tuple[str, int], Tensor]
"""(site, layer) → outputs (head, width) that replace those with gate 0."""


@dataclass(frozen=True, slots=True, eq=False)
class MeanOutputs:
    """The mean output of every head before W_O, over the batch called `name`."""

    name: str
    outputs: Fills

    def __repr__(self) -> str:
        return f"MeanOutputs({self.name!r}, {len(self.outputs)} layers)"


def intervention_actions(
    interventions: Interventions, heads: Sequence[Head], means: MeanOutputs | None = None
) -> dict[Point, Action]:
    """The actions that remove heads and edit cells and rows; omissions and drawing are of the
    model and of decoding.

    heads: all of the model. means: mean outputs, for heads that are replaced by their mean.

    Raises `InterventionError` as `head_gates`. In a pass an edit that leaves a query without any
    key raises `MaskError`.
    """
    actions = gate_actions(heads, *head_gates(interventions, heads, means))
    for (site, layer), own in groupby(heads, lambda head: head[:2]):
        cells, rows = interventions.on_attention(site, layer)
        if cells or rows:
            editor = _Editor(site, len(list(own)), cells, rows)
            actions[Point("mask", site, layer)] = editor.edit_mask
            if rows:
                actions[Point("pattern", site, layer)] = editor.override_rows
    return actions


def gate_actions(
    heads: Sequence[Head], gates: Tensor | None, fills: Fills | None = None
) -> dict[Point, Action]:
    """The actions that scale the output of every head, before W_O, by its gate: 1 leaves it, 0
    removes it.

    gates: (R or 1, head), in the order of `heads`; may require gradients. An attention whose gates
        are all 1 without gradients has no action. None = all 1.
    fills: the outputs at gate 0; None = zero.
    """
    actions: dict[Point, Action] = {}
    if gates is None:
        return actions
    for place, own in groupby(range(len(heads)), lambda number: heads[number][:2]):
        gate = gates[:, list(own)]  # (R or 1, H)
        if gate.requires_grad or bool((gate != 1).any()):
            fill = None if fills is None else fills[place]
            actions[Point("heads", *place)] = partial(_gated, gate[:, :, None, None], fill)
    return actions


def _gated(gate: Tensor, fill: Tensor | None, value: Tensor) -> Tensor:
    """`value` (R, H, Q, width), each head scaled by its gate (R or 1, H, 1, 1)."""
    gate = gate.to(value)
    scaled = value * gate
    return scaled if fill is None else scaled + (1 - gate) * fill[None, :, None].to(value)


def head_gates(
    interventions: Interventions, heads: Sequence[Head], means: MeanOutputs | None = None
) -> tuple[Tensor, Fills | None]:
    """Gates (1, head) that remove heads, and the outputs that replace theirs, None = zero.

    heads: all heads of the model; the gates are in this order.
    means: mean outputs, for heads that are replaced by their mean.

    Raises `InterventionError` on a site, layer or head that is not among `heads`, if no head
    would be left, and if mean outputs are needed and missing.
    """
    sizes = {
        site: (max(head.layer for head in own) + 1, max(head.head for head in own) + 1)
        for site in SITES
        if (own := [head for head in heads if head.site == site])
    }
    for one in interventions:
        if not isinstance(one, Omission | Drawing):
            _refuse_unknown(one, heads, sizes)
    removed = {
        Head(site, *place): how
        for site, size in sizes.items()
        for place, how in interventions.removed(site, *size).items()
    }
    if len(removed) == len(heads):
        raise InterventionError("nothing_left")
    gates = torch.tensor([[float(head not in removed) for head in heads]])
    if not interventions.needs_mean_outputs:
        return gates, None
    if not isinstance(means, MeanOutputs):
        raise InterventionError("no_means")
    return gates, {
        place: _by_mean(place, removed, len(outputs)) * outputs
        for place, outputs in means.outputs.items()
    }


def _refuse_unknown(
    one: OnAttention, heads: Sequence[Head], sizes: Mapping[str, tuple[int, int]]
) -> None:
    """Raise `InterventionError` on a site, layer or head that is not among `heads`.

    sizes: by site the numbers of layers and of heads in a layer.
    """
    if one.site not in sizes:
        raise InterventionError("no_such_site", site=one.site, sites=", ".join(sizes))
    layers, most = sizes[one.site]
    known = {(head.layer, head.head) for head in heads if head.site == one.site}
    if not any(one.layer in (None, layer) and one.head in (None, head) for layer, head in known):
        name, size = head_name(one.site, one.layer, one.head), {"layers": layers, "heads": most}
        raise InterventionError("no_such_head", head=name, site=one.site, **size)


def _by_mean(place: tuple[str, int], removed: Mapping[Head, str], heads: int) -> Tensor:
    """(head, 1): 1 for the heads of a layer that are replaced by their mean, else 0."""
    by_mean = [removed.get(Head(*place, head)) == "mean" for head in range(heads)]
    return torch.tensor(by_mean, dtype=torch.float32)[:, None]


@dataclass(slots=True)
class _Editor:
    """Edits cells and rows of one attention; its mask is edited before its pattern.

    Step by step a pass has only the newest queries, and a cache of local attention only the latest
    keys.
    """

    site: str
    heads: int
    cells: Sequence[CellEdit]
    rows: Sequence[RowOverride]
    mask: Tensor = field(default_factory=lambda: torch.empty(0))

    def _first(self, queries: int, keys: int) -> tuple[int, int]:
        """Positions of the first query and of the first key."""
        first = 0 if self.site == "encoder" else first_query()
        return first, first + queries - keys if self.site == "decoder" else 0

    def edit_mask(self, mask: Tensor) -> Tensor:
        queries, keys = mask.shape[-2:]
        first, first_key = self._first(queries, keys)
        edited = mask.expand(-1, self.heads, -1, -1).clone()
        for cell in self.cells:
            row, column = cell.query - first, cell.key - first_key
            if 0 <= row < queries and 0 <= column < keys:
                head = slice(None) if cell.head is None else cell.head
                edited[:, head, row, column] = cell.open
        masked = (~edited.any(-1) & mask.any(-1)).nonzero()  # rows of padding never had a key
        if len(masked):
            raise MaskError("masked_row", query=first + int(masked[0, -1]))
        self.mask = edited
        return edited

    def override_rows(self, pattern: Tensor) -> Tensor:
        queries, keys = pattern.shape[-2:]
        first, first_key = self._first(queries, keys)
        changed = pattern.clone()
        for row in self.rows:
            position = row.query - first
            if 0 <= position < queries:
                given = row.weights[first_key : first_key + keys]
                allowed = self.mask[:, row.head, position]  # (R, K)
                weights = set_row(given, allowed, row.query)
                changed[:, row.head, position] = weights.to(pattern)
        return changed


def set_row(given: Sequence[float], allowed: Tensor, query: int) -> Tensor:
    """The weights of one row, (B, L) float64, scaled to sum to 1.

    given: weights from key 0 on; other keys get 0.
    allowed: (B, L), False where the weight is 0 because the cell is masked.

    Raises `InterventionError`, naming the `query`, if all weights would be 0.
    """
    # In float64, so that no sum of given weights overflows.
    weights = allowed.new_zeros(allowed.size(-1), dtype=torch.float64)
    weights[: len(given)] = weights.new_tensor(given)
    weights = weights * allowed
    largest = weights.amax(-1, keepdim=True)
    if not (largest > 0).all():
        raise InterventionError("row_on_masked_cells", query=query)
    shares = weights / largest
    return shares / shares.sum(-1, keepdim=True)
