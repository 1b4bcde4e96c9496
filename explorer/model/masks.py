"""The masks of attention (§3.2.3 of "Attention Is All You Need", arXiv 1706.03762).

Masks are boolean, True = may attend; rows are queries, columns are keys.
"""

import torch
from torch import Tensor

from explorer.core.errors import MaskError
from explorer.core.sites import sides
from explorer.core.vocabulary import PAD


def padding_mask(tokens: Tensor) -> Tensor:
    """Which keys of the token ids (B, L) may be attended to: (B, 1, 1, L).

    Raises `MaskError` if a sequence has only padding: its rows would be fully masked. The empty
    source of a decoder alone has no rows.
    """
    mask = (tokens != PAD)[:, None, None, :]
    unchecked = tokens.size(1) == 0 or _is_captured_as_graph()
    return mask if unchecked else refuse_masked_rows(mask)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Each query may attend to itself and to earlier positions: (T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def path_mask(site: str, source: Tensor | None, target: Tensor | None, *, causal: bool) -> Tensor:
    """Which keys each query of an attention path may attend to: (…, query, key).

    source, target: (…, S) and (…, T) bool, False for padding; None if `site` does not need it.
    causal: False lets positions of the target attend to later ones.
    """
    queries, keys = sides(source, target)[site]
    assert queries is not None
    assert keys is not None
    mask = keys[..., None, :].expand(*queries.shape, -1)
    return mask & causal_mask(mask.size(-1), mask.device) if causal and site == "decoder" else mask


def refuse_masked_rows(mask: Tensor) -> Tensor:
    """`mask` (…, T, L) itself. Raises `MaskError` if one of its queries may attend to no key."""
    masked = ~mask.any(-1)
    if masked.any():
        raise MaskError("masked_row", query=int(masked.nonzero()[0, -1]))
    return mask


def _is_captured_as_graph() -> bool:
    # While a CUDA graph is captured, no value can be read on the CPU.
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()
