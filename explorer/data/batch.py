"""The tensors of one training step."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """Token ids, filled up with padding.

    source: (B, S), each sequence ends with EOS; (B, 0) for a decoder alone.
    target: (B, T), each begins with BOS and ends with EOS.
    """

    source: Tensor
    target: Tensor
