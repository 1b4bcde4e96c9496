"""Attention and masks from any other library, read into the arrays of a `Trace`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.mask_reasons import LATER, REASONS, mask_codes, reason_codes


def read_weights(site: str, weights: Any) -> NDArray[np.float32]:
    """(layer, head, query, key) float32 from one array, or from one array a layer.

    A batch axis of length 1 is dropped. Tensors may be on a GPU, require gradients or have half
    precision. Raises `TraceError` on anything else.
    """
    layers = list(weights) if isinstance(weights, list | tuple) else None
    try:
        if layers is None:
            array = _numbers(weights)
        else:
            parts = [_numbers(layer) for layer in layers]
            if len({part.shape for part in parts}) != 1:
                raise TraceError("uneven_layers", site=site)
            array = np.stack(parts)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TraceError("no_numbers", site=site) from error
    if array.ndim == 5:
        if array.shape[1] != 1:
            raise TraceError("whole_batch", site=site, got=array.shape[1])
        array = array[:, 0]  # (layer, head, query, key)
    if array.ndim != 4:
        raise TraceError("wrong_shape", site=site, got=array.shape, expected="(query, key)")
    return array


def is_half(weights: Any) -> bool:
    """Whether `weights` have half precision, so that their rows sum to 1 only roughly."""
    first = weights[0] if isinstance(weights, list | tuple) and weights else weights
    return str(getattr(first, "dtype", "")).split(".")[-1] in ("float16", "bfloat16")


def read_mask(site: str, mask: Any, weights: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Codes of `REASONS` for `weights` (layer, head, query, key).

    mask: booleans or 0 and 1, True = may attend, or strings of `REASONS`; a key that no query
        may attend to counts as padding. None: nothing is masked but the later positions of a
        decoder, where the weights on all of them are exactly 0.

    Raises `TraceError` on a mask of another kind or shape.
    """
    causal = mask_codes(*weights.shape[-2:], causal=site == "decoder")
    if mask is None:
        return causal if not weights[..., causal == LATER].any() else np.zeros_like(causal)
    given = np.asarray(_on_cpu(mask))
    if given.ndim > 2 and given.size == causal.size:
        given = given.reshape(given.shape[-2:])
    if given.shape not in (causal.shape, weights.shape):
        raise TraceError("wrong_mask", site=site, got=given.shape, expected=causal.shape)
    if given.dtype.kind == "U":
        if not np.isin(given, REASONS).all():
            raise TraceError("bad_mask", site=site)
        return np.select([given == reason for reason in REASONS], range(4)).astype(np.uint8)
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise TraceError("bad_mask", site=site)
    allowed = given.astype(np.bool_)
    attended = np.atleast_1d(allowed.reshape(-1, allowed.shape[-1]).any(axis=0))  # (key,)
    return reason_codes(allowed, ~attended)


def labels(tokens: Sequence[Any]) -> tuple[str, ...]:
    """Tokens as strings; ids as their digits."""
    return tuple(str(token) for token in tokens)


def _numbers(array: Any) -> NDArray[np.float32]:
    array = _on_cpu(array)
    if hasattr(array, "float"):  # NumPy has no bfloat16
        array = array.float()
    return np.asarray(array, dtype=np.float32)


def _on_cpu(array: Any) -> Any:
    for method in ("detach", "cpu"):
        if hasattr(array, method):
            array = getattr(array, method)()
    return array
