"""Passes of a model of the library in which tokens are left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture.attention_calls import Edit
from explorer.model.huggingface.capture.edits import Cursor, Edits
from explorer.model.huggingface.capture.masks import least, may_attend
from explorer.model.huggingface.capture.passes import encoded, full_pass
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.streams.module_hooks import hooked
from explorer.model.row_logits import RowLogits, largest_difference

_LARGEST_ERROR = 1e-4
"""Of a logit that must not change."""


@dataclass(frozen=True, slots=True, eq=False)
class LibraryLeftOut:
    """See `leave_one_out.LeftOutPasses`. inputs: one sequence of a model that decodes."""

    model: Any
    anatomy: Anatomy
    inputs: Inputs

    @property
    def sides(self) -> tuple[Tensor, Tensor]:
        source, target = self.inputs.source_mask, self.inputs.target_mask
        assert target is not None
        return torch.zeros(0).bool() if source is None else source[0].bool(), target[0].bool()

    @property
    def reached(self) -> Tensor:
        steps = self.inputs.lengths[1]
        return torch.ones(steps, steps, dtype=torch.bool).tril()

    @property
    def numbers(self) -> int:
        heads, steps = max(place.heads for place in self.anatomy.places), self.inputs.lengths[1]
        return max(steps * self.anatomy.head.width, heads * max(self.inputs.lengths) ** 2)

    def whole(self) -> RowLogits:
        return self._logits(self.inputs, 1)

    def without_source(self, tokens: Tensor) -> RowLogits:
        edit = Edit(mask=partial(_hidden, tokens), weights=_attending)
        encoder, decoder = self.anatomy.encoder, self.anatomy.decoder
        edits = Edits(_at(encoder, "encoder", edit), _at(decoder, "cross", edit), Cursor())
        return self._logits(self.inputs.repeated(len(tokens)), 1, edits)

    def without_target(self, tokens: Tensor) -> RowLogits:
        count, inputs = len(tokens), self.inputs
        edit = Edit(mask=partial(_hidden, tokens, itself=True))
        kept = torch.ones(count, inputs.lengths[1], 1)
        kept[torch.arange(count), tokens] = 0

        def without_vector(_: Any, given: Any, output: Tensor) -> Tensor:
            return output * kept.to(output)

        # The encoder runs before, because its embeddings may be the same module.
        memory = encoded(self.model, self.anatomy, inputs, Edits({}, {}, Cursor()))
        edits = Edits({}, _at(self.anatomy.decoder, "decoder", edit), Cursor())
        with hooked([(self._embeddings, without_vector)]):
            return self._logits(inputs, count, edits, memory)

    def refuse_leaks(self, ids: Sequence[int]) -> None:
        """Raise `ConfigError` if a token that is left out still has an effect, as where an encoder
        mixes tokens without attention: another of `ids` in its place would change the logits."""
        inputs, first = self.inputs, [int(side.int().argmax()) for side in self.sides if len(side)]
        names = ["target"] if inputs.source is None else ["source", "target"]
        for name, place in zip(names, first, strict=True):
            changed = getattr(inputs, name).clone()
            changed[0, place] = next(one for one in ids if one != changed[0, place])
            other = replace(self, inputs=replace(inputs, **{name: changed}))
            left_out = torch.tensor([place])
            one, two = (getattr(passes, f"without_{name}")(left_out) for passes in (self, other))
            if not largest_difference(one, two) <= _LARGEST_ERROR:
                raise ConfigError("not_left_out", family=str(self.model.config.model_type))

    def _logits(
        self, inputs: Inputs, copies: int, edits: Edits | None = None, memory: Any = None
    ) -> RowLogits:
        head = self.anatomy.head
        done = full_pass(
            self.model, self.anatomy, inputs, edits, copies=copies, memory=memory, head=head
        )
        return done.logits

    @property
    def _embeddings(self) -> Any:
        """The module that turns the ids of the decoder into vectors."""
        model = self.model
        decoder = model.get_decoder() if model.config.is_encoder_decoder else model
        return decoder.get_input_embeddings()


def _at(places: Sequence[Place], site: str, edit: Edit) -> dict[int, Edit]:
    return {number: edit for number, place in enumerate(places) if place.site == site}


def _hidden(
    tokens: Tensor, mask: Tensor | None, query: Tensor, key: Tensor, *, itself: bool = False
) -> Tensor:
    """`mask` with one of `tokens` (n,) hidden in each sequence: (n, 1 or H, Q, K).

    itself: a token may still attend to itself.
    """
    given = query.new_zeros(1, 1, 1, 1) if mask is None else mask
    given = given.expand(query.size(0), given.size(1), query.size(-2), key.size(-2))
    hidden, rows = given.clone(), torch.arange(len(tokens))
    hidden[rows, :, :, tokens] = least(given)
    if itself:
        hidden[rows, :, tokens, tokens] = given[rows, :, tokens, tokens]
    return hidden


def _attending(weights: Tensor, mask: Tensor | None) -> Tensor:
    """`weights` (n, H, Q, K), 0 where masked: also in a row that has no key left."""
    return weights if mask is None else weights * may_attend(mask)
