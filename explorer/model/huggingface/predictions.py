"""Predictions of a model as labels, candidates and text of a `Trace`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import VocabularyError
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.decoding import Decoded
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.tokens import Tokens
from explorer.model.row_logits import RowLogits, step_columns


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of one run; for an encoder-only model, the tokens that fill in its masks.

    labels: of the text, padding included.
    outputs: logits of each row.
    ends: ids after which decoding stops.
    """

    kind: Kind
    tokens: Tokens
    decoded: Decoded
    labels: tuple[str, ...]
    outputs: RowLogits
    ends: frozenset[int]

    @property
    def inputs(self) -> Inputs:
        return self.decoded.inputs

    @property
    def chosen(self) -> Sequence[int]:
        """The decoded tokens; empty for a model that decodes nothing."""
        return self.decoded.chosen

    def steps(self) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
        """The columns of `Trace.steps`, and the labels of the candidates."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.kind == Kind.ENCODER_ONLY:
            arrays = self._filled_in()
        elif self.chosen:
            arrays = self._decoded()
        ids = arrays["steps.id"].tolist() if arrays else []
        names = {number: self.tokens.label(number) for number in set(ids)}
        return arrays, tuple(names[number] for number in ids)

    def source_labels(self) -> tuple[str, ...]:
        return () if self.kind == Kind.DECODER_ONLY else self.labels

    def target_labels(self) -> tuple[str, ...]:
        """The labels of the tokens fed into the decoder."""
        if self.inputs.target is None:
            return ()
        found = self.tokens.labels(self.inputs.target[0].tolist())
        if self.kind == Kind.DECODER_ONLY:
            return (*self.labels, *found[len(self.labels) :])
        return found

    def predicted_labels(self) -> tuple[str, ...]:
        """The label of the token after each target token; empty if nothing is decoded."""
        if self.inputs.target is None or not self.chosen:
            return ()
        ids = [*self.inputs.target[0].tolist(), self.chosen[-1]]
        return (*self.target_labels()[1:], *self.tokens.labels(ids)[-1:])

    def text(self) -> str:
        """The decoded text; for an encoder-only model, the text with its masks filled in."""
        if self.kind != Kind.ENCODER_ONLY:
            return self.tokens.decode([token for token in self.chosen if token not in self.ends])
        assert self.inputs.source is not None
        assert self.inputs.source_mask is not None
        ids = self.inputs.source[0].clone()
        ids[self._masked] = self._taken
        return self.tokens.decode(ids[self.inputs.source_mask[0] == 1].tolist())

    def _decoded(self) -> dict[str, NDArray[Any]]:
        assert self.inputs.target is not None
        follows = torch.tensor([*self.inputs.target[0, 1:].tolist(), self.chosen[-1]])
        fixed = len(follows) - len(self.chosen)
        given = [row < fixed or row + 1 in self.decoded.forced for row in range(len(follows))]
        return step_columns(self.outputs, torch.arange(len(follows)), follows, torch.tensor(given))

    def _filled_in(self) -> dict[str, NDArray[Any]]:
        masked = self._masked
        forced = [position + 1 in self.decoded.forced for position in masked.tolist()]
        if sum(forced) < len(self.decoded.forced):
            raise VocabularyError("no_mask", step=max(self.decoded.forced), masks=len(masked))
        if not len(masked):
            return {}
        return step_columns(self.outputs, masked, self._taken, torch.tensor(forced))

    @cached_property
    def _taken(self) -> Tensor:
        """The id that fills each mask: the forced one, else the most probable.

        Raises `VocabularyError` on a forced token that is not an id.
        """
        best = [logits.argmax(-1) for _, logits in self.outputs.at(self._masked)]
        ids = torch.cat([*best, torch.empty(0, dtype=torch.long)])
        for index, position in enumerate(self._masked.tolist()):
            token = self.decoded.forced.get(position + 1)
            if token is not None:
                if not isinstance(token, int) or not 0 <= token < self.tokens.size:
                    raise VocabularyError("no_candidate", token=token, last=self.tokens.size - 1)
                ids[index] = token
        return ids

    @cached_property
    def _masked(self) -> Tensor:
        """Positions of the mask tokens; empty if the model fills in no masks."""
        assert self.inputs.source is not None
        mask = self.tokens.mask_id
        rows = self.inputs.source.size(1)
        predicts = self.outputs.rows == rows and self.outputs.width >= self.tokens.size
        if mask is None or not predicts:
            return torch.empty(0, dtype=torch.long)
        return (self.inputs.source[0] == mask).nonzero()[:, 0]
