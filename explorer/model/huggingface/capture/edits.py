"""Interventions as edits of single calls of attention.

Step-by-step decoding computes only the newest rows; a `Cursor` holds the first of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.core.errors import MaskError
from explorer.core.interventions import CellEdit, Interventions, RowOverride
from explorer.core.sites import Head
from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture.attention_calls import Edit
from explorer.model.huggingface.capture.masks import least, may_attend
from explorer.model.intervention_hooks import Fills, MeanOutputs, head_gates, set_row


@dataclass(slots=True)
class Cursor:
    """The first row that the current pass of the decoder computes."""

    first: int = 0


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits of an encoder pass and of a decoder pass, by the index of the call."""

    encoder: dict[int, Edit]
    decoder: dict[int, Edit]
    cursor: Cursor


@dataclass(frozen=True, slots=True, eq=False)
class _Gate:
    """Gates (B or 1, H) of the heads of one layer, and their outputs at gate 0: (H, width)."""

    gates: Tensor
    fill: Tensor | None

    def applied(self, output: Tensor) -> Tensor:
        """`output` (B, Q, H, width), each head scaled by its gate."""
        gate = self.gates[:, None, :, None].to(output)  # (B, 1, H, 1)
        scaled = output * gate
        return scaled if self.fill is None else scaled + (1 - gate) * self.fill.to(output)


def edits_for(
    interventions: Interventions,
    anatomy: Anatomy,
    means: MeanOutputs | None = None,
    gates: Tensor | None = None,
    fills: Fills | None = None,
) -> Edits:
    """The edits that carry out `interventions`, and gates on the outputs of heads.

    means: mean outputs, for heads that are replaced by their mean.
    gates: (B, head), in the order of `Anatomy.all_heads`; may require gradients.
    fills: the outputs at gate 0; None = zero.

    Raises `InterventionError` on a site, layer or head that the model does not have, if no head
    would be left, and if mean outputs are needed and missing.
    """
    heads = anatomy.all_heads
    removed = head_gates(interventions, heads, means)
    both = (removed, (gates, fills))

    def edits(places: Sequence[Place], cursor: Cursor) -> dict[int, Edit]:
        by_layer = {}
        for number, place in enumerate(places):
            of_place = [gate for given in both for gate in _gates_of(place, *given, heads)]
            if edit := _edit(place, interventions, of_place, cursor):
                by_layer[number] = edit
        return by_layer

    cursor = Cursor()
    return Edits(edits(anatomy.encoder, Cursor()), edits(anatomy.decoder, cursor), cursor)


def _gates_of(
    place: Place, gates: Tensor | None, fills: Fills | None, heads: Sequence[Head]
) -> list[_Gate]:
    """The gates of one layer; empty if all of them are 1."""
    if gates is None:
        return []
    first = heads.index(Head(place.site, place.layer, 0))
    own = gates[:, first : first + place.heads]
    if not own.requires_grad and bool((own == 1).all()):
        return []
    fill = None if fills is None else fills[place.site, place.layer]
    return [_Gate(own, fill)]


def _edit(
    place: Place, interventions: Interventions, gates: Sequence[_Gate], cursor: Cursor
) -> Edit | None:
    """The edit of one call, or None if nothing changes."""
    cells, rows = interventions.on_attention(place.site, place.layer)
    if not (cells or rows or gates):
        return None
    editor = _Editor(place, cells, rows, gates, cursor)
    return Edit(
        mask=editor.edit_mask if cells else None,
        weights=editor.set_rows if rows else None,
        output=editor.scale_heads if gates else None,
    )


@dataclass(frozen=True, slots=True)
class _Editor:
    place: Place
    cells: Sequence[CellEdit]
    rows: Sequence[RowOverride]
    gates: Sequence[_Gate]
    cursor: Cursor

    def first_key(self, queries: int, keys: int) -> int:
        """The position of the first key: a cache of local attention drops the ones before it."""
        return self.cursor.first + queries - keys if self.place.site == "decoder" else 0

    def edit_mask(self, mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor:
        """`mask` with its cells edited: (B, H, Q, K)."""
        queries, keys = query.size(-2), key.size(-2)
        if mask is None:
            mask = query.new_zeros(1, 1, queries, keys)
        edited = mask.expand(query.size(0), self.place.heads, queries, keys).clone()
        first, first_key = self.cursor.first, self.first_key(queries, keys)
        masked_value = least(mask)
        for cell in self.cells:
            row, column = cell.query - first, cell.key - first_key
            if 0 <= row < queries and 0 <= column < keys:
                head = slice(None) if cell.head is None else cell.head
                edited[:, head, row, column] = 0.0 if cell.open else masked_value
        had_key = may_attend(mask).any(-1)  # rows of padding had no unmasked key before either
        masked = (~may_attend(edited).any(-1) & had_key).nonzero()
        if len(masked):
            raise MaskError("masked_row", query=first + int(masked[0, -1]))
        return edited

    def set_rows(self, weights: Tensor, mask: Tensor | None) -> Tensor:
        """`weights` (B, H, Q, K) with the overridden rows."""
        queries, keys = weights.shape[-2:]
        first, first_key = self.cursor.first, self.first_key(queries, keys)
        allowed = torch.ones_like(weights, dtype=torch.bool)
        if mask is not None:
            allowed = may_attend(mask).expand_as(weights)
        changed = weights.clone()
        for row in self.rows:
            position = row.query - first
            if 0 <= position < queries:
                given = row.weights[first_key : first_key + keys]
                unmasked = allowed[:, row.head, position]  # (B, K)
                changed[:, row.head, position] = set_row(given, unmasked, row.query).to(weights)
        return changed

    def scale_heads(self, output: Tensor) -> Tensor:
        """`output` (B, Q, H, width), each head by its gate."""
        for gate in self.gates:
            output = gate.applied(output)
        return output
