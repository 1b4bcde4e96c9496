"""Passes of a model trained here in which tokens are left out."""

from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.core.vocabulary import PAD
from explorer.model.hooks import edit
from explorer.model.masks import path_mask
from explorer.model.row_logits import RowLogits
from explorer.model.transformer import Transformer

_EMBEDDED = "decoder.embedding.scaled"


@dataclass(frozen=True, slots=True, eq=False)
class OwnLeftOut:
    """See `leave_one_out.LeftOutPasses`. source: (1, S), may be padded; target: (1, T)."""

    model: Transformer
    source: Tensor
    target: Tensor

    @property
    def sides(self) -> tuple[Tensor, Tensor]:
        return self.source[0] != PAD, torch.ones(self.target.size(1), dtype=torch.bool)

    @property
    def reached(self) -> Tensor:
        return path_mask("decoder", None, self.sides[1], causal=self.model.config.causal)

    @property
    def numbers(self) -> int:
        config, steps = self.model.config, self.target.size(1)
        longest = max(self.source.size(1), steps)
        return max(steps * config.target_vocabulary, config.heads * longest**2)

    def whole(self) -> RowLogits:
        return RowLogits.of(self.model.decode(self.target, self._memory(), self._real(1)))

    def without_source(self, tokens: Tensor) -> RowLogits:
        count = len(tokens)
        seen = self._real(count).clone()
        seen[torch.arange(count), :, :, tokens] = False
        memory = self.model.encode(self.source.expand(count, -1), seen)
        return RowLogits.of(self.model.decode(self.target.expand(count, -1), memory, seen))

    def without_target(self, tokens: Tensor) -> RowLogits:
        count = len(tokens)
        rows = torch.arange(count)
        seen = self.reached.expand(count, 1, -1, -1).clone()
        seen[rows, 0, :, tokens] = False
        seen[rows, 0, tokens, tokens] = True  # of row 0 it is the only key
        kept = torch.ones(count, self.target.size(1), 1)
        kept[rows, tokens] = 0
        memory = self._memory().expand(count, -1, -1)
        with edit(self.model, {_EMBEDDED: kept.mul}):
            hidden = self.model.decoder(
                self.target.expand(count, -1), memory, seen, self._real(count)
            )
        return RowLogits.of(self.model.logits(hidden))

    def _memory(self) -> Tensor:
        return self.model.encode(self.source, self._real(1))

    def _real(self, count: int) -> Tensor:
        """A mask (count, 1, 1, S) that hides padding alone."""
        return self.sides[0].expand(count, 1, 1, -1)
