"""Draw the next token at random, in the same way as the browser (`drawing.ts`)."""

import torch
from torch import Tensor

from explorer.core.verbs import Drawing

_INCREMENT = 0x6D2B79F5  # the generator is mulberry32; its state counts in these
_ALL = 0xFFFFFFFF  # of 32 bits


def draw(drawing: Drawing, logits: Tensor, step: int) -> int:
    """The id drawn at a step from softmax(logits (V) / temperature); of equal seed, step and logits
    it is the same."""
    probabilities = _restricted(drawing, torch.softmax(logits.double() / drawing.temperature, -1))
    ends = probabilities.cumsum(-1)
    found = int(torch.searchsorted(ends, random_share(drawing.seed, step) * ends[-1], right=True))
    return min(found, int(probabilities.nonzero()[-1]))


def _restricted(drawing: Drawing, probabilities: Tensor) -> Tensor:
    """`probabilities` (V), 0 for the tokens that top-k and, after it, top-p leave out. Of equally
    probable ones those of lower id come first. At least one stays."""
    if drawing.k is None and drawing.p is None:
        return probabilities
    order = probabilities.argsort(descending=True, stable=True)[: drawing.k]
    ranked = probabilities[order]
    if drawing.p is not None:
        sums = ranked.cumsum(-1)
        order = order[sums - ranked < drawing.p * sums[-1]]
    return torch.zeros_like(probabilities).scatter(0, order, probabilities[order])


def random_share(seed: int, step: int) -> float:
    """A number from 0, less than 1, which looks random."""
    state = (seed + step * _INCREMENT) & _ALL
    mixed = (state ^ state >> 15) * (state | 1) & _ALL
    mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61) & _ALL
    return (mixed ^ mixed >> 14) / 2**32
