"""Refuse interventions that a text does not allow: cells and rows outside of it, and edits that
change nothing."""

from collections.abc import Callable

from torch import Tensor

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.sites import sides
from explorer.core.verbs import CellEdit, RowOverride, typed


def refuse_misplaced(
    interventions: Interventions, source: int, target: int, unmasked: Callable[[CellEdit], Tensor]
) -> None:
    """Raise `InterventionError` on a cell or row outside `source` and `target` tokens, on a row
    with more weights than keys, and on an edit that does not change its cell.

    unmasked: cell → (layer, head) of its site before the edits, True = may attend.
    """
    sizes = sides(source, target)
    for row in interventions.override_row:
        _refuse_row(row, *sizes[row.site])
    masks: dict[tuple[str, int, int], Tensor] = {}  # (layer, head), with the edits so far
    for cell in interventions.edit_mask:
        queries, keys = sizes[cell.site]
        if not (0 <= cell.query < queries and 0 <= cell.key < keys):
            facts = {"row": cell.query, "column": cell.key, "queries": queries, "keys": keys}
            raise InterventionError("no_such_cell", site=cell.site, **facts)
        place = (cell.site, cell.query, cell.key)
        if place not in masks:
            masks[place] = unmasked(cell)
        edited = masks[place][_slice(cell.layer), _slice(cell.head)]
        if bool((edited == cell.open).all()):
            key = "already_unmasked" if cell.open else "already_masked"
            raise InterventionError(key, intervention=typed(cell))
        edited.fill_(cell.open)


def _refuse_row(row: RowOverride, queries: int, keys: int) -> None:
    if not 0 <= row.query < queries:
        facts = {"site": row.site, "row": row.query, "queries": queries}
        raise InterventionError("no_such_row", **facts)
    given = len(row.weights)
    if given > keys:
        raise InterventionError("too_many_weights", site=row.site, given=given, keys=keys)


def _slice(number: int | None) -> slice:
    """Slice of one layer or head; None = all."""
    return slice(None) if number is None else slice(number, number + 1)
