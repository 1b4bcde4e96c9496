"""Attention, masks and candidates from any other library, read into the arrays of a `Trace`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.mask_reasons import (
    EDITED,
    LATER,
    OUTSIDE,
    REASONS,
    UNMASKED,
    has_window,
    mask_codes,
    reason_codes,
)

_SHOWN = 10  # numbers in an error

_NEW_AXES = {2: "None, None", 3: "None"}
"""By the axes of an array, the index that makes it one of a single layer, and of a single head."""

NUMBER = re.compile(r"\d+")
"""The number of a layer in the name of an array."""

LARGEST_MASKED = -1e4
"""The largest value of an additive mask in a masked cell."""


def in_order(named: Mapping[Any, Any]) -> list[Any]:
    """The values in the order of the numbers in their names: layer 2 before layer 10."""
    return [named[key] for key in sorted(named, key=_numbers_in)]


def _numbers_in(key: Any) -> list[int]:
    return [int(number) for number in NUMBER.findall(str(key))]


def read_weights(site: str, weights: Any) -> NDArray[np.float32]:
    """(layer, head, query, key) float32 from one array, or from one array a layer, in a list or by
    names with numbers.

    A batch axis of length 1 is dropped. Tensors may be on a GPU, require gradients or have half
    precision. Raises `TraceError` on anything else.
    """
    weights = in_order(weights) if isinstance(weights, Mapping) else weights
    objects = getattr(weights, "dtype", "") == np.dtype(object)
    layers = list(weights) if objects or isinstance(weights, list | tuple) else None
    if layers is not None:
        _refuse_foreign(site, layers)
    try:
        if layers is None:
            array = as_numbers(weights)
        else:
            parts = [as_numbers(layer) for layer in layers]
            shapes = dict.fromkeys(str(part.shape) for part in parts)
            if len(shapes) != 1:
                raise TraceError("uneven_layers", site=site, got=", ".join(shapes))
            array = np.stack(parts)
            array.flags.writeable = False  # nobody else has it, so a `Trace` need not copy it
    except (TypeError, ValueError, RuntimeError) as error:
        raise TraceError("no_numbers", site=site) from error
    if array.ndim == 5:
        if array.shape[1] != 1:
            raise TraceError("whole_batch", site=site, got=array.shape[1])
        array = array[:, 0]  # (layer, head, query, key)
    if array.ndim in (2, 3):
        way = "[one[None] for one in weights]" if layers else f"weights[{_NEW_AXES[array.ndim]}]"
        raise TraceError("no_head_axis", site=site, got=array.shape, way=way)
    if array.ndim != 4:
        raise TraceError("wrong_axes", site=site, got=array.shape)
    return array


def _refuse_foreign(site: str, layers: Sequence[Any]) -> None:
    """Raise `TraceError` if another library returned something other than the weights.

    That is: no layers or None, because it kept none; or the weights of each generation step.
    """
    parts = [layer if isinstance(layer, list | tuple) else (layer,) for layer in layers]
    missing = [n for n, part in enumerate(parts) if all(one is None for one in part)]
    if len(missing) == len(layers):
        raise TraceError("weights_none", site=site)
    if missing:
        shown = ", ".join(map(str, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
        raise TraceError("layers_none", site=site, layers=shown)
    for layer, part in zip(layers, parts, strict=True):
        if isinstance(layer, list | tuple) and any(getattr(one, "ndim", 0) == 4 for one in part):
            raise TraceError("weights_of_steps", site=site)


def is_half(weights: Any) -> bool:
    """Whether `weights` have half precision, so that their rows sum to 1 only roughly."""
    weights = in_order(weights) if isinstance(weights, Mapping) else weights
    first = weights[0] if isinstance(weights, list | tuple) and weights else weights
    return str(getattr(first, "dtype", "")).split(".")[-1] in ("float16", "bfloat16")


def read_mask(site: str, mask: Any, weights: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Codes of `REASONS` for `weights` (layer, head, query, key).

    mask: booleans or 0 and 1, True = may attend, strings of `REASONS`, or an additive mask; with
        the axes (query, key), (layer, 1, query, key) or those of `weights`, or a list of one a
        layer. A key that no query may attend to counts as padding; a masked cell that is neither
        padding nor a later position is outside the window, if the mask is one, else edited.
        None: nothing is masked except the later positions of a decoder, if the weights on all of
        them are exactly 0.

    Raises `TraceError` on a mask of another kind or shape.
    """
    causal = mask_codes(*weights.shape[-2:], causal=site == "decoder")
    if mask is None:
        return causal if not weights[..., causal == LATER].any() else np.zeros_like(causal)
    given = _mask_array(site, mask, weights)
    if given.dtype.kind == "U":
        if not np.isin(given, REASONS).all():
            raise TraceError("bad_mask", site=site)
        codes = np.select([given == reason for reason in REASONS], range(len(REASONS)))
        return codes.astype(np.uint8)
    allowed = _allowed(site, given)
    attended = np.atleast_1d(allowed.reshape(-1, allowed.shape[-1]).any(axis=0))  # (key,)
    self_attention, causal_site = site != "cross", site == "decoder"
    codes = np.empty(allowed.shape, np.uint8)
    for where in np.ndindex(allowed.shape[:-2]):
        one = allowed[where]
        window = self_attention and has_window(one, ~attended, causal=causal_site)
        codes[where] = reason_codes(one, ~attended, other=OUTSIDE if window else EDITED)
    return codes


def _mask_array(site: str, mask: Any, weights: NDArray[np.float32]) -> NDArray[Any]:
    """`mask` with one of the shapes a trace has. Raises `TraceError` on another shape."""
    axes = weights.shape[-2:]
    if isinstance(mask, list | tuple) and len(mask) == len(weights) and np.ndim(mask[0]) > 1:
        layers = [np.asarray(_on_cpu(layer)) for layer in mask]
        if len({layer.shape for layer in layers}) > 1:
            raise TraceError("uneven_masks", site=site)
        one = layers[0].shape
        # One mask for all heads if a layer has no axis of heads; a batch axis of 1 is dropped.
        heads = one[-3] if len(one) > 2 else 1
        sized = layers[0].size == heads * np.prod(axes) and one[-2:] == axes
        if sized:
            return np.stack([layer.reshape(heads, *axes) for layer in layers])
        raise TraceError("wrong_mask", site=site, got=one, expected=axes)
    given = np.asarray(_on_cpu(mask))
    if given.ndim > 2 and given.size == np.prod(axes):
        given = given.reshape(given.shape[-2:])
    if given.ndim == 5 and given.shape[1] == 1:
        given = given[:, 0]
    if given.shape not in (axes, (len(weights), 1, *axes), weights.shape):
        raise TraceError("wrong_mask", site=site, got=given.shape, expected=axes)
    return given


def _allowed(site: str, given: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of booleans, of 0 and 1 or of numbers to add, as booleans, True = may attend."""
    if given.dtype.kind not in "biuf":
        raise TraceError("bad_mask", site=site)
    # All zeros would mask every cell if read as 0 and 1, so read it as an additive mask.
    if given.dtype.kind == "f" and (given.min(initial=0) < 0 or not given.any()):
        masked = given <= LARGEST_MASKED
        if not (np.abs(given[~masked]) < -LARGEST_MASKED).all():  # NaN fails as well
            raise TraceError("bad_mask", site=site)
        return ~masked
    if not np.isin(given, (0, 1)).all():
        raise TraceError("bad_mask", site=site)
    return given.astype(np.bool_)


def without_padding_rows(
    weights: NDArray[np.float32], codes: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """`weights` with zeros in the rows of queries that may attend to no key."""
    padding = padding_rows(codes)
    return np.where(padding, np.float32(0), weights) if padding.any() else weights


def padding_rows(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """True where a query may attend to no key: (query, 1), (layer, 1 or head, query, 1)."""
    return ~(codes == UNMASKED).any(-1, keepdims=True)


def read_candidates(
    candidates: Sequence[Sequence[tuple[Any, float]]], predicted: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """The columns of `Trace.steps` and the labels of the candidates.

    Ids count the distinct labels. Raises `TraceError` if a step lacks its predicted token, and on
    malformed candidates.
    """
    if not isinstance(candidates, Sequence):
        raise TraceError("no_candidates", got=type(candidates).__name__)
    if not candidates:
        return {}, ()
    if len(candidates) != len(predicted):
        raise TraceError("candidates_differ", got=len(candidates), expected=len(predicted))
    rows: list[tuple[int, int, float, bool]] = []
    tokens: list[str] = []
    for step, (listed, chosen) in enumerate(zip(candidates, predicted, strict=True), start=1):
        best_first = _best_first(listed)
        names = labels([token for token, _ in best_first])
        if chosen not in names:
            raise TraceError("candidate_missing", step=step, token=chosen)
        chosen_rank = names.index(chosen) + 1
        for rank, (_, probability) in enumerate(best_first, start=1):
            rows.append((step, rank, float(probability), rank == chosen_rank))
        tokens += names
    ids = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    step_, rank_, probability_, chosen_ = zip(*rows, strict=True)
    return {
        "steps.step": np.array(step_),
        "steps.rank": np.array(rank_),
        "steps.id": np.array([ids[token] for token in tokens]),
        "steps.probability": np.array(probability_, np.float32),
        "steps.chosen": np.array(chosen_, np.bool_),
        "steps.forced": np.zeros(len(rows), np.bool_),
    }, tuple(tokens)


def _best_first(listed: Sequence[tuple[Any, float]]) -> list[tuple[Any, float]]:
    try:
        pairs = [(token, float(probability)) for token, probability in listed]
    except (TypeError, ValueError):
        raise TraceError("no_candidates", got=type(listed).__name__) from None
    return sorted(pairs, key=lambda one: -one[1])


def labels(tokens: Sequence[Any]) -> tuple[str, ...]:
    """Tokens as strings; ids as their digits. Raises `TraceError` if this is no list of tokens."""
    if not isinstance(tokens, Iterable):
        raise TraceError("no_tokens", got=type(tokens).__name__)
    return tuple(str(token) for token in tokens)


def as_numbers(array: Any) -> NDArray[np.float32]:
    """An array or tensor of any library in float32, on the CPU and without a gradient."""
    array = _on_cpu(array)
    if hasattr(array, "float"):  # NumPy has no bfloat16
        array = array.float()
    return np.asarray(array, dtype=np.float32)


def _on_cpu(array: Any) -> Any:
    for method in ("detach", "cpu"):
        if hasattr(array, method):
            array = getattr(array, method)()
    return array
