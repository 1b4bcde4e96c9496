"""Gates on the outputs of heads: 1 leaves an output, 0 replaces it by zero or by its mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.sites import SITES, Head

Fills: TypeAlias = Mapping[tuple[str, int], Tensor]
"""By site and layer, the outputs (head, width) that take the place of those with gate 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """The mean output of every head before W_O, over the batch called `name`."""

    name: str
    outputs: Fills

    def __repr__(self) -> str:
        return f"Means({self.name!r}, {len(self.outputs)} layers)"


def head_gates(
    interventions: Interventions, heads: Sequence[Head], means: Means | None = None
) -> tuple[Tensor, Fills | None]:
    """Gates (1, head) that remove heads, in the order of `heads`, all there are; and what takes
    their place, None = zero.

    means: the outputs of heads that are replaced by their mean.

    Raises `InterventionError` when no head would be left, and without the means that are needed.
    """
    removed: dict[Head, str] = {}
    for site in SITES:
        own = [head for head in heads if head.site == site]
        if own:
            sizes = max(head.layer for head in own) + 1, max(head.head for head in own) + 1
            outcomes = interventions.removed(site, *sizes)
            removed |= {Head(site, layer, head): how for (layer, head), how in outcomes.items()}
    if len(removed) == len(heads):
        raise InterventionError("nothing_left")
    gates = torch.tensor([[float(head not in removed) for head in heads]])
    if not interventions.needs_means:
        return gates, None
    if not isinstance(means, Means):
        raise InterventionError("no_means")
    return gates, {
        place: _by_mean(place, removed, len(outputs)) * outputs
        for place, outputs in means.outputs.items()
    }


def _by_mean(place: tuple[str, int], removed: Mapping[Head, str], heads: int) -> Tensor:
    """(head, 1) 1 for the heads of a layer that are replaced by their mean, else 0."""
    by_mean = [removed.get(Head(*place, head)) == "mean" for head in range(heads)]
    return torch.tensor(by_mean, dtype=torch.float32)[:, None]
