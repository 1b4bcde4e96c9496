"""Fingerprint of a model: models with equal fingerprints compute the same."""

from collections.abc import Iterable
from hashlib import blake2b

import torch
from torch import Tensor


def fingerprint(description: str, weights: Iterable[tuple[str, Tensor]]) -> str:
    """Hash of a text that describes the sizes and of the weights by name: 32 hexadecimal digits."""
    hasher = blake2b(description.encode(), digest_size=16)
    for name, weight in weights:
        hasher.update(name.encode())
        numbers = weight.detach().cpu().contiguous()
        if numbers.dtype == torch.bfloat16:  # NumPy has none
            numbers = numbers.view(torch.int16)
        hasher.update(numbers.numpy().data)
    return hasher.hexdigest()
