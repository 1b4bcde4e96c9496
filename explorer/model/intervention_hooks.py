"""Carry out interventions on a model while it runs, by `hooks.edit`: remove heads, edit cells and
rows of their weights, or leave out the scaling, the masks or the positions of the whole model.

The model itself does not change: an intervention lasts as long as its `with` block, and other
threads that use the model do not see it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from explorer.core.errors import InterventionError, MaskError
from explorer.core.interventions import (
    CellEdit,
    Drawing,
    Interventions,
    Omission,
    OnAttention,
    RowOverride,
    head_name,
    typed,
)
from explorer.core.sites import SITES, Head, sides
from explorer.model.config import ModelConfig
from explorer.model.hooks import Action, edit, path
from explorer.model.masks import path_mask
from explorer.model.transformer import Transformer

Fills: TypeAlias = Mapping[tuple[str, int], Tensor]
"""(site, layer) → outputs (head, width) that replace those with gate 0."""


@dataclass(frozen=True, slots=True, eq=False)
class MeanOutputs:
    """The mean output of every head before W_O, over the batch called `name`."""

    name: str
    outputs: Fills

    def __repr__(self) -> str:
        return f"MeanOutputs({self.name!r}, {len(self.outputs)} layers)"


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


@contextmanager
def applied(
    model: Transformer,
    interventions: Interventions,
    means: MeanOutputs | None = None,
) -> Iterator[None]:
    """Apply `interventions` to `model` until the block ends, in full passes and step by step.

    means: mean outputs, for heads that are replaced by their mean.

    Raises `InterventionError` on heads that the model does not have, and if no head would be left.
    Inside the block a pass raises `MaskError` if an edit leaves a query without any key.
    """
    config = model.config
    gates, fills = head_gates(interventions, config.all_heads, means)
    omissions = _omission_actions(config)
    left_out = dict(omissions[name] for name in interventions.omitted)
    edited = _mask_actions(interventions, config)
    with edit(model, left_out), gated(model, gates, fills), edit(model, edited):
        yield


@contextmanager
def gated(model: Transformer, gates: Tensor, fills: Fills | None = None) -> Iterator[None]:
    """Scale the output of every head, before W_O, by its gate: 1 leaves it, 0 removes it.

    gates: (B or 1, head), in the order of `ModelConfig.all_heads`; may require gradients. An
        attention whose gates are all 1 without gradients is not edited.
    fills: the outputs at gate 0; None = zero.
    """
    gates = gates.to(model.device)
    by_attention = gates.view(len(gates), -1, model.config.heads)  # (B, attention, head)

    def scaled(place: tuple[str, int], gate: Tensor) -> Action:
        gate = gate[:, :, None, None]  # (B, H, 1, 1)
        if fills is None:
            return lambda value: value * gate  # (B, H, T, K)
        fill = fills[place][None, :, None].to(gates.device)  # (1, H, 1, K)
        return lambda value: value * gate + (1 - gate) * fill

    places = model.config.attentions
    actions = {
        path(*place, "head_output"): scaled(place, gate)
        for place, gate in zip(places, by_attention.unbind(1), strict=True)
        if gate.requires_grad or bool((gate != 1).any())
    }
    with edit(model, actions):
        yield


def refuse_outside(interventions: Interventions, source: int, target: int) -> None:
    """Raise `InterventionError` on a cell or row outside `source` and `target` tokens, and on a
    row with more weights than keys."""
    sizes = sides(source, target)
    for row in interventions.override_row:
        queries, keys = sizes[row.site]
        if not 0 <= row.query < queries:
            facts = {"site": row.site, "row": row.query, "queries": queries}
            raise InterventionError("no_such_row", **facts)
        given = len(row.weights)
        if given > keys:
            raise InterventionError("too_many_weights", site=row.site, given=given, keys=keys)
    for cell in interventions.edit_mask:
        _refuse_cell(cell.site, cell.query, cell.key, sizes[cell.site])


def refuse_misplaced(
    interventions: Interventions, config: ModelConfig, padding: Tensor, target: int
) -> None:
    """Raise `InterventionError` as `refuse_outside` does, and on an edit that does not change its
    cell.

    padding: (S,) True for padded source tokens; target: number of tokens fed to the decoder.
    """
    refuse_outside(interventions, len(padding), target)
    fed_in = padding.new_ones(target)

    def unmasked(cell: CellEdit) -> Tensor:
        mask = path_mask(cell.site, ~padding, fed_in, causal=config.causal)
        return mask[cell.query, cell.key].repeat(config.layers(cell.site), config.heads)

    refuse_unchanged(interventions, unmasked)


def refuse_unchanged(interventions: Interventions, unmasked: Callable[[CellEdit], Tensor]) -> None:
    """Raise `InterventionError` on an edit that does not change its cell.

    unmasked: cell → (layer, head) of its site before the edits, True = may attend.
    """
    masks: dict[tuple[str, int, int], Tensor] = {}  # (layer, head), with the edits so far
    for cell in interventions.edit_mask:
        place = (cell.site, cell.query, cell.key)
        if place not in masks:
            masks[place] = unmasked(cell)
        edited = masks[place][_slice(cell.layer), _slice(cell.head)]
        if bool((edited == cell.open).all()):
            key = "already_unmasked" if cell.open else "already_masked"
            raise InterventionError(key, intervention=typed(cell))
        edited.fill_(cell.open)


def _slice(number: int | None) -> slice:
    """Slice of one layer or head; None = all."""
    return slice(None) if number is None else slice(number, number + 1)


def _refuse_cell(site: str, query: int, key: int, size: tuple[int, int]) -> None:
    if not (0 <= query < size[0] and 0 <= key < size[1]):
        facts = {"row": query, "column": key, "queries": size[0], "keys": size[1]}
        raise InterventionError("no_such_cell", site=site, **facts)


@dataclass(slots=True)
class _Rows:
    """The rows of the target that the current pass computes: `count` from `first` on."""

    first: int = 0
    count: int = 0

    def watch(self, scores: Tensor) -> Tensor:
        # In step-by-step decoding, self-attention has all keys so far, but only the last query.
        self.count = scores.size(-2)
        self.first = scores.size(-1) - self.count
        return scores


def _mask_actions(interventions: Interventions, config: ModelConfig) -> dict[str, Action]:
    """The edits of masks and patterns, by the path of the hook point."""
    rows, actions = _Rows(), dict[str, Action]()
    for site, layer in config.attentions:
        cells, set_rows = interventions.on_attention(site, layer)
        if cells or set_rows:
            editor = _Editor(config.heads, None if site == "encoder" else rows, cells, set_rows)
            actions[path(site, layer, "mask")] = editor.edit_mask
            actions[path(site, layer, "pattern")] = editor.override_rows
    if any("decoder." in name for name in actions):
        actions[path("decoder", 0, "scores")] = rows.watch
    return actions


class _Editor:
    """Edits cells and rows of one attention; its mask is edited before its pattern."""

    def __init__(
        self, heads: int, rows: _Rows | None, cells: list[CellEdit], set_rows: list[RowOverride]
    ) -> None:
        self.heads = heads
        self.rows = rows  # None: a pass of the encoder computes all rows
        self.cells = cells
        self.set_rows = set_rows
        self.mask = torch.empty(0)

    def edit_mask(self, mask: Tensor) -> Tensor:
        """`mask` (B, H or 1, T or 1, L) → (B, H, T, L) with its cells edited."""
        length = mask.size(-1)
        first, count = (self.rows.first, self.rows.count) if self.rows else (0, length)
        mask = mask.expand(-1, self.heads, count, -1).clone()  # (B, H, T, L)
        for cell in self.cells:
            if 0 <= cell.query - first < count and 0 <= cell.key < length:
                head = slice(None) if cell.head is None else cell.head
                mask[:, head, cell.query - first, cell.key] = cell.open
        masked = (~mask.any(-1)).nonzero()  # (fully masked rows, 3)
        if len(masked):
            raise MaskError("masked_row", query=first + int(masked[0, -1]))
        self.mask = mask
        return mask

    def override_rows(self, pattern: Tensor) -> Tensor:
        """`pattern` (B, H, T, L) with the overridden rows."""
        count, length = pattern.shape[-2:]
        first = self.rows.first if self.rows else 0
        changed = pattern.clone()
        for row in self.set_rows:
            position = row.query - first
            if not 0 <= position < count:
                continue
            allowed = self.mask[:, row.head, position]  # (B, L)
            weights = set_row(row.weights[:length], allowed, row.query)
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


def _omission_actions(config: ModelConfig) -> dict[str, tuple[str, Action]]:
    """Part → its hook points, and the action that leaves it out there."""
    root = math.sqrt(config.head_width)

    def unscaled(scores: Tensor) -> Tensor:
        return scores * root

    return {
        "scaling": ("*.scores", unscaled),
        "mask": ("*.mask", torch.ones_like),
        "positions": ("*.position_vectors", torch.zeros_like),
    }
