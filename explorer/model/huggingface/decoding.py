"""Decoding: the tokens it may choose or a caller imposes, where it stops, and its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import VocabularyError
from explorer.core.verbs import Drawing
from explorer.model.drawing import draw
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.inputs import Inputs
from explorer.model.row_logits import NO_LOGITS, RowLogits
from explorer.model.trace_options import AFTER_PROMPT

NEW_TOKENS = {Kind.ENCODER_DECODER: 128, Kind.DECODER_ONLY: AFTER_PROMPT, Kind.ENCODER_ONLY: 0}
"""The most tokens that are decoded unless told otherwise."""

_NO_IDS = torch.empty(0, dtype=torch.long)


@dataclass(frozen=True, slots=True, eq=False)
class DecodingRules:
    """The rules of one run. Step t follows row t − 1.

    first: the first step that is decoded; last: the last one.
    ends: ids after which decoding stops.
    never: ids that are not chosen; never_first: those not chosen at the first step.
    forced: step → the id its token must have.
    drawing: how the other tokens are drawn; None = the most probable ones.
    """

    first: int
    last: int
    ends: Tensor = field(default_factory=lambda: _NO_IDS)
    never: Tensor = field(default_factory=lambda: _NO_IDS)
    never_first: Tensor = field(default_factory=lambda: _NO_IDS)
    forced: Mapping[int, int] = field(default_factory=dict)
    drawing: Drawing | None = None

    @property
    def known(self) -> list[int] | None:
        """The tokens that follow the first ones and are fed in, if a caller imposes all of them;
        None if decoding chooses any of them."""
        tokens: list[int] = []
        ends = set(self.ends.tolist())
        for step in range(self.first, self.last):
            token = self.forced.get(step)
            if token is None:
                return None
            if token in ends:
                break
            tokens.append(token)
        return tokens

    def chosen(self, logits: Tensor, step: int) -> Tensor:
        """The tokens (N,) chosen at a step from its logits (N, V); or (N, T) from (N, T, V)."""
        if step in self.forced:
            return torch.full(logits.shape[:-1], self.forced[step])
        logits = self.without_excluded(logits, step)
        if self.drawing:
            rows = logits.reshape(-1, logits.size(-1))
            drawn = torch.tensor([draw(self.drawing, row, step) for row in rows])
            return drawn.view(logits.shape[:-1])
        return logits.argmax(-1)

    def without_excluded(self, logits: Tensor, step: int) -> Tensor:
        """`logits` (…, V), −∞ for the ids that are not chosen at a step."""
        excluded = self.never
        if step == self.first and len(self.never_first):
            excluded = torch.cat([self.never, self.never_first])
        return logits.index_fill(-1, excluded, -torch.inf) if len(excluded) else logits


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """The result of decoding; for an encoder-only model only its inputs.

    inputs: including the decoded tokens that were fed in.
    logits: of each row, from step-by-step decoding; without rows if it did not run.
    chosen: the decoded tokens.
    forced: step → the id that a caller imposed.
    memory: the output of the encoder that decoding used; None without one.
    rules: if all tokens but the last were known; then `completed` chooses the last one.
    """

    inputs: Inputs
    logits: RowLogits = NO_LOGITS
    chosen: Sequence[int] = ()
    forced: Mapping[int, int] = field(default_factory=dict)
    memory: Any = None
    rules: DecodingRules | None = None

    @property
    def stepwise(self) -> bool:
        """Whether tokens were chosen from `logits`, step by step."""
        return self.rules is None and self.logits.rows > 0

    def completed(self, logits: RowLogits) -> "Decoded":
        """With the last token, chosen from the `logits` of a pass over `inputs`."""
        if self.rules is None:
            return self
        step = self.inputs.lengths[1]
        last = self.rules.forced.get(step)
        if last is None:
            row = logits.read(logits.rows - 1, logits.rows)[:, 0]  # (1, V)
            last = int(self.rules.chosen(row, step))
        assert self.inputs.target is not None
        fed = self.inputs.target[0, self.rules.first :].tolist()
        return replace(self, chosen=[*fed, last])

    def facts(self, kind: Kind, ends: frozenset[int]) -> dict[str, Any]:
        """Facts of a trace about decoding; `ends`: ids after which decoding stops."""
        facts: dict[str, Any] = {"forced": {str(step): own for step, own in self.forced.items()}}
        if self.chosen:
            facts["ended"] = self.chosen[-1] in ends
        if kind == Kind.DECODER_ONLY and self.chosen:
            facts["prompt"] = self.inputs.lengths[1] - len(self.chosen) + 1
        return facts


def numbered_steps(ids: Sequence[int], first: int, positions: int | None) -> Mapping[int, int]:
    """Step → token, for consecutive tokens.

    first: the first step that is decoded. positions: the most tokens; None without a limit.

    Raises `VocabularyError` on too many tokens.
    """
    most = None if positions is None else positions - first + 1
    if most is not None and len(ids) > most:
        raise VocabularyError("long_target", got=len(ids), limit=most)
    return dict(enumerate(ids, start=first))


def checked_steps(force: Mapping[int, int], first: int, size: int) -> Mapping[int, int]:
    """A copy of `force`, step → id of a token. Raises `VocabularyError` on a wrong step or id.

    first: the first step that is decoded. size: number of ids.
    """
    for step, token in force.items():
        if not isinstance(token, int) or not 0 <= token < size:
            raise VocabularyError("no_candidate", token=token, last=size - 1)
        if not isinstance(step, int) or step < first:
            raise VocabularyError("fixed_step", step=step, first=first)
    return dict(force)
