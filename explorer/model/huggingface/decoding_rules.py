"""Rules of greedy decoding: the tokens it may choose, and where it stops."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from explorer.model.huggingface.anatomy import Kind

NEW_TOKENS = {Kind.ENCODER_DECODER: 128, Kind.DECODER_ONLY: 32, Kind.ENCODER_ONLY: 0}
"""The most tokens that are decoded unless told otherwise."""

_NO_IDS = torch.empty(0, dtype=torch.long)


@dataclass(frozen=True, slots=True, eq=False)
class DecodingRules:
    """The rules of one run. Step t follows row t − 1.

    first: the first step that is decoded; last: the last one.
    ends: ids after which decoding stops.
    never: ids that are not chosen; never_first: those not chosen at the first step.
    forced: step → the id its token must have.
    """

    first: int
    last: int
    ends: Tensor = field(default_factory=lambda: _NO_IDS)
    never: Tensor = field(default_factory=lambda: _NO_IDS)
    never_first: Tensor = field(default_factory=lambda: _NO_IDS)
    forced: Mapping[int, int] = field(default_factory=dict)

    def chosen(self, logits: Tensor, step: int) -> Tensor:
        """The tokens (N,) chosen at a step from its logits (N, V); or (N, T) from (N, T, V)."""
        if step in self.forced:
            return torch.full(logits.shape[:-1], self.forced[step])
        excluded = self.never
        if step == self.first and len(self.never_first):
            excluded = torch.cat([self.never, self.never_first])
        if len(excluded):
            logits = logits.index_fill(-1, excluded, -torch.inf)
        return logits.argmax(-1)
