"""The decoded tokens and the inputs of decoding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.inputs import Inputs
from explorer.model.row_logits import NO_LOGITS, RowLogits


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """The result of decoding; for an encoder-only model only its inputs.

    inputs: including the decoded tokens that were fed in.
    logits: of each row, from step-by-step decoding.
    chosen: the decoded tokens.
    forced: step → the id that a caller imposed.
    memory: the output of the encoder that decoding used; None without one.
    """

    inputs: Inputs
    logits: RowLogits = NO_LOGITS
    chosen: Sequence[int] = ()
    forced: Mapping[int, int] = field(default_factory=dict)
    memory: Any = None

    def facts(self, kind: Kind, ends: frozenset[int]) -> dict[str, Any]:
        """Facts of a trace about decoding; `ends`: ids after which decoding stops."""
        facts: dict[str, Any] = {"forced": {str(step): own for step, own in self.forced.items()}}
        if self.chosen:
            facts["ended"] = self.chosen[-1] in ends
        if kind == Kind.DECODER_ONLY and self.chosen:
            facts["prompt"] = self.inputs.lengths[1] - len(self.chosen) + 1
        return facts
