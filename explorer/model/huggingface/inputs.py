"""The ids that go into a model, with their padding."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from explorer.model.huggingface.anatomy import Kind

TOO_LONG = {
    Kind.ENCODER_DECODER: "long_source",
    Kind.DECODER_ONLY: "long_prompt",
    Kind.ENCODER_ONLY: "long_text",
}
"""Keys of the messages about a text with more tokens than the model has positions."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Ids (N, S) and (N, T), and masks with 1 for real tokens and 0 for padding; mostly N = 1.

    None for a stack that the model does not have.

    segments: (N, S) of the source, if it is two texts and the model distinguishes them.
    """

    source: Tensor | None = None
    source_mask: Tensor | None = None
    target: Tensor | None = None
    target_mask: Tensor | None = None
    segments: Tensor | None = None

    def with_target(self, new: Sequence[int]) -> "Inputs":
        """These inputs with more target tokens, which decoding has chosen."""
        assert self.target is not None
        assert self.target_mask is not None
        more = torch.tensor([new], dtype=torch.long)
        target = torch.cat([self.target, more], 1)
        mask = torch.cat([self.target_mask, torch.ones_like(more)], 1)
        return Inputs(self.source, self.source_mask, target, mask)

    @property
    def lengths(self) -> tuple[int, int]:
        """Number of source and of target tokens; 0 without such a stack."""
        source, target = (0 if ids is None else ids.size(1) for ids in (self.source, self.target))
        return source, target

    @property
    def padding_before(self) -> int:
        """Tokens of padding before the text, in a model with a decoder alone."""
        mask = self.source_mask if self.target_mask is None else self.target_mask
        return 0 if mask is None else int(mask[0].argmax())

    @property
    def padded(self) -> bool:
        """Whether any token is padding."""
        masks = (self.source_mask, self.target_mask)
        return any(mask is not None and not bool(mask.all()) for mask in masks)

    @classmethod
    def joined(cls, parts: "Sequence[Inputs]") -> "Inputs":
        """The sequences of all parts, which have the same stacks and equal lengths."""
        if len(parts) == 1:
            return parts[0]
        names = ("source", "source_mask", "target", "target_mask", "segments")
        sides = ([getattr(part, name) for part in parts] for name in names)
        return cls(*(None if side[0] is None else torch.cat(side) for side in sides))

    def repeated(self, copies: int) -> "Inputs":
        """All sequences, `copies` times one after the other."""
        sides = (self.source, self.source_mask, self.target, self.target_mask, self.segments)
        return Inputs(*(None if side is None else side.repeat(copies, 1) for side in sides))

    def without_padding(self) -> "Inputs":
        source = _bare(self.source, self.source_mask)
        segments, _ = _bare(self.segments, self.source_mask)
        return Inputs(*source, *_bare(self.target, self.target_mask), segments)


def takes_segments(model: Any, kind: Kind) -> bool:
    """Whether a model takes segments: which of two texts each token is in."""
    given = signature(model.forward).parameters
    count = getattr(model.config, "type_vocab_size", None) or 0
    return kind == Kind.ENCODER_ONLY and "token_type_ids" in given and count > 1


def padded_inputs(
    kind: Kind,
    ids: Sequence[int],
    padding: Sequence[int],
    start: int,
    segments: Sequence[int] | None = None,
) -> Inputs:
    """The inputs of a text before decoding.

    padding: placed after the ids; before them in a decoder-only model, which continues the text.
    start: first id of the decoder in an encoder–decoder model.
    segments: of the ids, for an encoder-only model that takes segments.
    """
    real, filled = [1] * len(ids), [0] * len(padding)
    if kind == Kind.DECODER_ONLY:
        target, target_mask = torch.tensor([[*padding, *ids]]), torch.tensor([filled + real])
        return Inputs(target=target, target_mask=target_mask)
    source, source_mask = torch.tensor([[*ids, *padding]]), torch.tensor([real + filled])
    if kind == Kind.ENCODER_ONLY:
        told = None if segments is None else torch.tensor([[*segments, *filled]])
        return Inputs(source, source_mask, segments=told)
    first = torch.tensor([[start]])
    return Inputs(source, source_mask, first, torch.ones_like(first))


def _bare(ids: Tensor | None, mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    if ids is None or mask is None:
        return None, None
    real = mask[0] == 1
    return ids[:, real], mask[:, real]
