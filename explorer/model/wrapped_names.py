"""The names of weights that were saved from inside a wrapper: DataParallel and torch.compile put a
prefix before every name."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

_T = TypeVar("_T")

WRAPPERS = re.compile(r"^(?:module\.|_orig_mod\.)+")


def are_wrapped(names: Iterable[str]) -> bool:
    """Whether there are names and all of them have such a prefix."""
    every = list(names)
    return bool(every) and all(map(WRAPPERS.match, every))


def bare(weights: Mapping[str, _T]) -> dict[str, _T]:
    """Weights by their own names; the prefix is left out where all have one."""
    if not are_wrapped(weights):
        return dict(weights)
    return {WRAPPERS.sub("", name): weight for name, weight in weights.items()}
