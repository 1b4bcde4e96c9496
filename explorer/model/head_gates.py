"""Gates on the outputs of heads: 1 leaves an output, 0 replaces it by zero or by its mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from explorer.core.errors import InterventionError
from explorer.core.interventions import Intervention, Interventions, head_name
from explorer.core.sites import SITES, Head

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
    one: Intervention, heads: Sequence[Head], sizes: Mapping[str, tuple[int, int]]
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
