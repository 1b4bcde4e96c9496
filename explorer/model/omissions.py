"""Omit a part of the Transformer while it runs: the scaling, the masks, or the positions.

This shows the purpose of the part, since the model was trained with it.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.core.interventions import OMISSIONS
from explorer.model.config import ModelConfig
from explorer.model.hooks import Action, edit
from explorer.model.transformer import Transformer


@contextmanager
def omitting(model: Transformer, names: Iterable[str]) -> Iterator[None]:
    """Run `model` without these parts in every layer until the block ends."""
    with edit(model, dict(_actions(model.config)[name] for name in names)):
        yield


def checked(names: Iterable[str]) -> tuple[str, ...]:
    """The parts to leave out, in the order of `OMISSIONS`. Raises `ConfigError` on other names."""
    several = isinstance(names, Iterable) and not isinstance(names, str)
    given = tuple(names) if several else (names,)
    for name in given:
        if name not in OMISSIONS:
            raise ConfigError("bad_omission", got=name, known=", ".join(OMISSIONS))
    return tuple(name for name in OMISSIONS if name in given)


def _actions(config: ModelConfig) -> dict[str, tuple[str, Action]]:
    """Part → its hook points, and the action that leaves it out there."""
    root = math.sqrt(config.head_width)

    def unscaled(scores: Tensor) -> Tensor:
        return scores * root

    return {
        "scaling": ("*.scores", unscaled),
        "mask": ("*.mask", torch.ones_like),
        "positions": ("*.position_vectors", torch.zeros_like),
    }
