"""Interventions as edits of single calls of attention.

Decoding step by step computes only the newest rows; a `Cursor` says which.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.core.errors import InterventionError, MaskError
from explorer.core.interventions import CellEdit, Interventions, RowOverride
from explorer.core.sites import SITES
from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture import Edit
from explorer.model.huggingface.masks import is_open, least
from explorer.model.intervention_hooks import set_row


@dataclass(slots=True)
class Cursor:
    """The first of the rows that the current pass of the decoder computes."""

    first: int = 0


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits of a pass of the encoder and of one of the decoder, by the index of the call."""

    encoder: dict[int, Edit]
    decoder: dict[int, Edit]
    cursor: Cursor


def edits_for(interventions: Interventions, anatomy: Anatomy) -> Edits:
    """Raises `InterventionError` on a site, layer or head that the model does not have, and when
    no head would be left."""
    for one in interventions:
        _refuse_unknown(one.site, one.layer, one.head, anatomy)
    if interventions.needs_means:
        raise InterventionError("no_means")
    removed = _removed(interventions, anatomy)
    cursor = Cursor()
    of_encoder = {
        index: edit
        for index, place in enumerate(anatomy.encoder)
        if (edit := _edit(place, interventions, removed, Cursor()))
    }
    of_decoder = {
        index: edit
        for index, place in enumerate(anatomy.decoder)
        if (edit := _edit(place, interventions, removed, cursor))
    }
    return Edits(of_encoder, of_decoder, cursor)


def _refuse_unknown(site: str, layer: int | None, head: int | None, anatomy: Anatomy) -> None:
    layers, heads = anatomy.layers(site), anatomy.heads(site)
    if not layers:
        known = ", ".join(name for name in SITES if anatomy.layers(name))
        raise InterventionError("no_such_site", site=site, sites=known)
    inside = layer is None or 0 <= layer < layers
    if not inside or not (head is None or 0 <= head < heads):
        size = {"layers": layers, "heads": heads}
        raise InterventionError("no_such_head", head=f"{site}.{layer}.{head}", site=site, **size)


def _removed(interventions: Interventions, anatomy: Anatomy) -> set[tuple[str, int, int]]:
    """The heads whose output becomes zero: (site, layer, head)."""
    removed = {
        (site, layer, head)
        for site in SITES
        for layer, head in interventions.removed(site, anatomy.layers(site), anatomy.heads(site))
    }
    if len(removed) == sum(place.heads for place in anatomy.places):
        raise InterventionError("nothing_left")
    return removed


def _edit(
    place: Place,
    interventions: Interventions,
    removed: set[tuple[str, int, int]],
    cursor: Cursor,
) -> Edit | None:
    """The edit of one call; None when nothing is changed there."""
    cells = [
        cell
        for cell in interventions.edit_mask
        if cell.site == place.site and cell.layer in (None, place.layer)
    ]
    rows = [row for row in interventions.override_row if row[:2] == (place.site, place.layer)]
    gone = [head for site, layer, head in removed if (site, layer) == (place.site, place.layer)]
    if not (cells or rows or gone):
        return None
    editor = _Editor(place, cells, rows, gone, cursor)
    return Edit(
        mask=editor.edit_mask if cells else None,
        weights=editor.set_rows if rows else None,
        output=editor.remove_heads if gone else None,
    )


@dataclass(frozen=True, slots=True)
class _Editor:
    place: Place
    cells: Sequence[CellEdit]
    rows: Sequence[RowOverride]
    gone: Sequence[int]
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
        closed = least(mask)
        for cell in self.cells:
            row, column = cell.query - first, cell.key - first_key
            if 0 <= row < queries and 0 <= column < keys:
                head = slice(None) if cell.head is None else cell.head
                edited[:, head, row, column] = 0.0 if cell.open else closed
        was_open = is_open(mask).any(-1)  # rows of padding have had no key before
        masked = (~is_open(edited).any(-1) & was_open).nonzero()
        if len(masked):
            raise MaskError("masked_row", query=first + int(masked[0, -1]))
        return edited

    def set_rows(self, weights: Tensor, mask: Tensor | None) -> Tensor:
        """`weights` (B, H, Q, K) with the given rows."""
        queries, keys = weights.shape[-2:]
        first, first_key = self.cursor.first, self.first_key(queries, keys)
        allowed = torch.ones_like(weights, dtype=torch.bool)
        if mask is not None:
            allowed = is_open(mask).expand_as(weights)
        changed = weights.clone()
        for row in self.rows:
            position = row.query - first
            if 0 <= position < queries:
                given = row.weights[first_key : first_key + keys]
                open_keys = allowed[:, row.head, position]  # (B, K)
                changed[:, row.head, position] = set_row(given, open_keys, row.query).to(weights)
        return changed

    def remove_heads(self, output: Tensor) -> Tensor:
        """`output` (B, Q, H, width) with zeros for the removed heads."""
        changed = output.clone()
        changed[:, :, list(self.gone)] = 0
        return changed
