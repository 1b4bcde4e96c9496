"""Passes of a model of the library in which tokens are left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.inputs import Inputs
from explorer.model.left_out import LeftOutPasses
from explorer.model.points import Actions
from explorer.model.row_logits import RowLogits, largest_difference

if TYPE_CHECKING:
    from explorer.model.huggingface.batch_passes import LibraryPasses

_LARGEST_ERROR = 1e-4
"""Of a logit that must not change."""


def library_left_out(passes: "LibraryPasses", inputs: Inputs) -> LeftOutPasses:
    """inputs: one sequence of a model that decodes."""

    def run(actions: Actions, copies: int) -> RowLogits:
        return passes.run_on(inputs, actions, copies=copies)

    source, target = inputs.source_mask, inputs.target_mask
    assert target is not None
    real = torch.zeros(0).bool() if source is None else source[0].bool(), target[0].bool()
    return LeftOutPasses(run, passes.heads, passes.anatomy.head.width, real)


def refuse_leaks(passes: "LibraryPasses", inputs: Inputs, ids: Sequence[int]) -> None:
    """Raise `ConfigError` if a token that is left out still has an effect, as where an encoder
    mixes tokens without attention: another of `ids` in its place would change the logits."""
    sides = library_left_out(passes, inputs).sides
    first = [int(side.int().argmax()) for side in sides if len(side)]
    names = ["target"] if inputs.source is None else ["source", "target"]
    for name, place in zip(names, first, strict=True):
        changed = getattr(inputs, name).clone()
        changed[0, place] = next(one for one in ids if one != changed[0, place])
        given = (inputs, replace(inputs, **{name: changed}))
        both = [library_left_out(passes, one) for one in given]
        left_out = torch.tensor([place])
        one, two = (getattr(own, f"without_{name}")(left_out) for own in both)
        if not largest_difference(one, two) <= _LARGEST_ERROR:
            raise ConfigError("not_left_out", family=str(passes.model.config.model_type))
