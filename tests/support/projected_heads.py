"""The outputs of heads where a model of the library projects them, to be changed by hooks: what
interventions and gates are compared with."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from torch import Tensor

from explorer.model.huggingface.anatomy import Anatomy
from tests.support.huggingface_families import FAMILIES

Change: TypeAlias = Callable[[str, int, Tensor], Tensor]


@contextmanager
def projected(model: Any, name: str, anatomy: Anatomy, change: Change) -> Iterator[None]:
    """The library's own `model` of a family, with the input of its output projections changed.

    change: (site, layer, states) → states; (B, Q, H, width).
    """
    hooks = []
    for site, path in FAMILIES[name].projection.items():
        calls = itertools.count()  # one module may run as every layer

        def changed(
            _: Any, given: tuple[Any, ...], site: str, layer: int | None, calls: Iterator[int]
        ) -> tuple[Any, ...]:
            number = next(calls) if layer is None else layer
            states = given[0].unflatten(-1, (anatomy.heads(site), -1))
            return (change(site, number, states.clone()).flatten(-2), *given[1:])

        numbers = range(anatomy.layers(site)) if "{}" in path else [None]
        for number in numbers:
            module = model.get_submodule(path.format(number))
            hooks.append(
                module.register_forward_pre_hook(
                    partial(changed, site=site, layer=number, calls=calls)
                )
            )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
