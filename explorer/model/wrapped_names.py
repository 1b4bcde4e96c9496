"""Modules and weights inside a wrapper: DataParallel and torch.compile hold a module, and put a
prefix before the name of each of its weights."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

_T = TypeVar("_T")

WRAPPERS = re.compile(r"^(?:module\.|_orig_mod\.)+")

_HOLDERS = {  # class of a wrapper → its attribute for the module inside
    "DataParallel": "module",
    "DistributedDataParallel": "module",
    "OptimizedModule": "_orig_mod",
}


def are_wrapped(names: Iterable[str]) -> bool:
    """Whether there are names and all of them have the prefix of a wrapper."""
    every = list(names)
    return bool(every) and all(map(WRAPPERS.match, every))


def bare(weights: Mapping[str, _T]) -> dict[str, _T]:
    """Weights by their own names; the prefix is removed if all have one."""
    if not are_wrapped(weights):
        return dict(weights)
    return {WRAPPERS.sub("", name): weight for name, weight in weights.items()}


def unwrapped(module: Any) -> Any:
    """The module inside the wrappers; `module` itself without any."""
    while type(module).__name__ in _HOLDERS and (inside := _inside(module)) is not None:
        module = inside
    return module


def _inside(module: Any) -> Any:
    return getattr(module, _HOLDERS[type(module).__name__], None)
