"""Where the tensors of a running torch module come from: which of its activations queries and keys
were projected from, and which tensor is a product of two activations.

All that is computed from parameters and buffers alone is a constant; anything else is an
activation. A product with a constant is a projection.
"""

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from explorer.core.trace_from_arrays import LARGEST_MASKED

_PRODUCTS = (
    *("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "einsum", "tensordot"),
    *("linear", "addmm", "baddbmm", "conv1d"),
)
"""Names of the functions of torch that sum products of two tensors."""


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A product of two activations, perhaps scaled and masked since.

    query, key: what its factors were projected from.
    unmasked: its last value without a masked cell, None if there is none.
    """

    query: Tensor
    key: Tensor
    unmasked: Tensor | None


@dataclass(frozen=True, slots=True, eq=False)
class _Origin:
    """stem: the activation that a tensor is made of by norms, views and other functions of one
    activation; None = itself. read: the stem of what it was projected from."""

    stem: Tensor | None
    read: Tensor | None
    product: Product | None = None


_NOTHING = _Origin(None, None)


class TensorOrigins:
    """The origins of the activations of one run of a module. They are followed as long as the
    module itself keeps the tensors."""

    def __init__(self, module: nn.Module) -> None:
        self._constants: MutableMapping[Tensor, bool] = WeakTensorKeyDictionary()
        self._origins: MutableMapping[Tensor, _Origin] = WeakTensorKeyDictionary()
        for one in (*module.parameters(), *module.buffers()):
            self._constants[one] = True

    def read_by(self, tensor: Tensor) -> Tensor:
        """What a tensor was projected from; without a projection, what it is made of."""
        origin = self._origin(tensor)
        if origin.product is not None:
            return origin.product.query
        return self._stem(tensor) if origin.read is None else origin.read

    def product(self, tensor: Tensor) -> Product | None:
        """The product that a tensor is, scaled and masked; None if it is none."""
        return self._origin(tensor).product

    def follow(self, function: Any, result: Any, operands: Iterable[Any]) -> None:
        """Keep the origin of the tensors in the result of a call of a function of torch."""
        outputs = [one for one in _tensors([result]) if one.is_floating_point()]
        tensors = list(_tensors(operands))
        if not outputs or not tensors:
            return
        if all(one in self._constants for one in tensors):
            for output in outputs:
                self._constants[output] = True
            return
        activations = [
            one for one in tensors if one.is_floating_point() and one not in self._constants
        ]
        if not activations:  # looked up by ids
            return
        multiplies = getattr(function, "__name__", "") in _PRODUCTS
        for output in outputs:
            made = self._multiplied if multiplies else self._made
            self._origins[output] = made(activations, output)

    def _multiplied(self, activations: list[Tensor], output: Tensor) -> _Origin:
        if len(activations) == 1:
            return _Origin(None, self._stem(activations[0]))
        query, key = map(self.read_by, activations[-2:])
        return _Origin(None, None, Product(query, key, _without_mask(output)))

    def _made(self, activations: list[Tensor], output: Tensor) -> _Origin:
        origins = [self._origin(one) for one in activations]
        read = next((one.read for one in origins if one.read is not None), None)
        product = next((one.product for one in origins if one.product is not None), None)
        if product is not None:
            unmasked = _without_mask(output)
            unmasked = product.unmasked if unmasked is None else unmasked
            product = Product(product.query, product.key, unmasked)
        stem = self._stem(activations[0]) if len(activations) == 1 else None
        return _Origin(None if stem is output else stem, read, product)

    def _origin(self, tensor: Tensor) -> _Origin:
        return self._origins.get(tensor, _NOTHING)

    def _stem(self, tensor: Tensor) -> Tensor:
        stem = self._origin(tensor).stem
        return tensor if stem is None else stem


def _without_mask(scores: Tensor) -> Tensor | None:
    """A copy of scores, which a mask may be written into; None if some are masked already."""
    whole = bool((scores.isfinite() & (scores > LARGEST_MASKED / 2)).all())
    return scores.detach().clone() if whole else None


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among values and in the lists and tuples among them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
