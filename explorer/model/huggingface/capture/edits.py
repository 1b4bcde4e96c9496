"""Actions on the points of a pass as edits of single calls of attention."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture.attention_calls import (
    Call,
    Edit,
    Seen,
    keys,
    scores,
    values,
)
from explorer.model.huggingface.capture.masks import least, may_attend, unmasked_cells
from explorer.model.points import NO_ACTIONS, Action, Actions, Point, Readers


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits of an encoder pass and of a decoder pass, by the index of the call."""

    encoder: Mapping[int, Edit]
    decoder: Mapping[int, Edit]


def edits_of(anatomy: Anatomy, actions: Actions = NO_ACTIONS) -> Edits:
    """The edits that carry out the actions on attention."""

    def edits(places: Sequence[Place]) -> dict[int, Edit]:
        found = {number: _edit(place, actions) for number, place in enumerate(places)}
        return {number: edit for number, edit in found.items() if edit}

    return Edits(edits(anatomy.encoder), edits(anatomy.decoder))


def _edit(place: Place, actions: Actions) -> Edit | None:
    """The edit of one call, or None if nothing changes."""
    mask, pattern, heads = (
        actions.get(Point(kind, place.site, place.layer)) for kind in ("mask", "pattern", "heads")
    )
    if not (mask or pattern or heads):
        return None
    return Edit(
        mask=partial(_masked, mask) if mask else None,
        weights=partial(_weighted, pattern) if mask or pattern else None,
        output=partial(_by_head, heads) if heads else None,
    )


def _masked(act: Action, mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor:
    """`mask` of the library with the cells that `act` changes: (B, 1 or H, Q, K)."""
    given = query.new_zeros(1, 1, 1, 1) if mask is None else mask
    given = given.expand(query.size(0), -1, query.size(-2), key.size(-2))
    before = may_attend(given)
    after = act(before)
    if given.dtype == after.dtype:
        return after
    return given.masked_fill(before & ~after, least(given)).masked_fill(after & ~before, 0.0)


def _weighted(act: Action | None, weights: Tensor, mask: Tensor | None) -> Tensor:
    """`weights` (B, H, Q, K) after `act`, 0 in a row that has no key left."""
    if mask is not None:
        without_key = ~may_attend(mask).any(-1, keepdim=True)
        weights = weights.masked_fill(without_key, 0) if bool(without_key.any()) else weights
    return act(weights) if act else weights


def _by_head(act: Action, output: Tensor) -> Tensor:
    """`act` on the outputs (B, Q, H, width) of a call, which it gets as (B, H, Q, width)."""
    return act(output.transpose(1, 2)).transpose(1, 2)


def seen_by(anatomy: Anatomy, readers: Readers) -> dict[str, Seen]:
    """Callbacks for a pass, by stack, that hand the values of attention to `readers`."""

    def pass_on(places: Sequence[Place], index: int, call: Call) -> None:
        for kind, read in READ.items():
            if reader := readers.get(Point(kind, places[index].site, places[index].layer)):
                reader(read(call))

    stacks = {"encoder": anatomy.encoder, "decoder": anatomy.decoder}
    of_attention = any(point.kind in READ for point in readers)
    return {one: partial(pass_on, places) for one, places in stacks.items() if of_attention}


READ: Mapping[str, Callable[[Call], Tensor]] = {
    "pattern": lambda call: call.weights,
    "mask": lambda call: unmasked_cells(call.mask, call.query.size(-2), call.key.size(-2)),
    "heads": lambda call: call.output.transpose(1, 2),
    "scores": scores,
    "query_vectors": lambda call: call.query,
    "key_vectors": keys,
    "values": values,
}
"""Kind of a point → its value in a call."""
