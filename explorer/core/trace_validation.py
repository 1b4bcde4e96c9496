"""Checks on the parts of a `Trace`, wherever they come from. Each raises `TraceError`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.mask_reasons import REASONS

MEASURED = (
    "hooked_equals_plain",
    "cached_equals_full",
    "padding_changes_nothing",
    "equals_library",
)
"""The integrity checks that only a model can measure."""

_STEPS = {  # column of `Trace.steps` → type of its numbers
    "step": np.integer,
    "rank": np.integer,
    "id": np.integer,
    "probability": np.floating,
    "chosen": np.bool_,
    "forced": np.bool_,
}
_DEEPEST_FACT = 8

Arrays = Mapping[str, NDArray[Any]]


def check_site(arrays: Arrays, site: str, queries: int, keys: int) -> None:
    """The arrays of `site` have the axes (queries, keys), finite weights from 0, known codes."""
    weights, axes = arrays[f"{site}.attention"], (queries, keys)
    if weights.ndim != 4 or weights.shape[2:] != axes or not weights.size:
        raise TraceError("wrong_shape", site=site, got=weights.shape, expected=axes)
    # Without a second copy of large arrays. A NaN fails the first comparison.
    if weights.dtype != np.float32 or not 0 <= weights.min() <= weights.max() < np.inf:
        raise TraceError("not_finite", site=site)
    codes = arrays.get(f"{site}.closed")
    if codes is None or codes.dtype != np.uint8 or codes.max(initial=0) >= len(REASONS):
        raise TraceError("bad_mask", site=site)
    if codes.shape not in (axes, (len(weights), 1, *axes), weights.shape):
        raise TraceError("wrong_mask", site=site, got=codes.shape, expected=axes)
    _check_inside(arrays, site)


def _check_inside(arrays: Arrays, site: str) -> None:
    """The further arrays of `site` fit its attention and are finite."""
    shape = arrays[f"{site}.attention"].shape
    by_query, by_key, by_token = shape[:3], (*shape[:2], shape[3]), (shape[0], shape[2])
    fits = {
        "scores": shape,
        "query_vectors": by_query,
        "key_vectors": by_key,
        "values": by_key,
        "head_output": by_query,
        "sink": by_query,
        "score_scale": shape[:1],
        "score_cap": shape[:1],
        "input": by_token,
        "sublayer_input": by_token,
        "sublayer_output": by_token,
        "output": by_token,
    }
    for kind, expected in fits.items():
        _check_numbers(arrays, f"{site}.{kind}", expected, site)


def check_stack(arrays: Arrays, stack: str, tokens: int) -> None:
    """The arrays of a stack beside its attention have one vector for each of `tokens`."""
    for kind in ("feed_forward_hidden", "feed_forward_output", "layer_output"):
        name = f"{stack}.{kind}"
        layers = arrays[name].shape[:1] if name in arrays else ()
        _check_numbers(arrays, name, (*layers, tokens), stack)
    for kind in ("token_vectors", "embedding", "stack_output"):
        _check_numbers(arrays, f"{stack}.{kind}", (tokens,), stack)


def check_logits(arrays: Arrays, steps: int) -> None:
    """The logits have one row for each step."""
    _check_numbers(arrays, "logits", (steps,), "logits")


def check_early(arrays: Arrays, facts: Any, steps: int) -> None:
    """The predictions after each layer have ids, probabilities and tokens (layer, T, rank)."""
    ids, shares = arrays.get("early.id"), arrays.get("early.probability")
    if ids is None and shares is None:
        return
    if ids is None or shares is None or ids.shape != shares.shape:
        raise TraceError("bad_steps")
    if ids.ndim != 3 or ids.shape[1] != steps or ids.dtype.kind != "i":
        raise TraceError("bad_steps")
    if not ((shares >= 0) & (shares <= 1 + 1e-6)).all():  # NaN fails both
        raise TraceError("bad_steps")
    tokens = facts.get("early_tokens") if isinstance(facts, Mapping) else None
    try:
        labels = np.array(tokens, dtype=object)
    except ValueError:
        raise TraceError("bad_steps") from None
    if labels.shape != ids.shape or not all(isinstance(label, str) for label in labels.flat):
        raise TraceError("bad_steps")


def _check_numbers(arrays: Arrays, name: str, axes: tuple[int, ...], site: str) -> None:
    """An array, if it is there, has these first axes and finite numbers."""
    array = arrays.get(name)
    if array is None:
        return
    if array.shape[: len(axes)] != axes:
        raise TraceError("wrong_shape", site=site, got=array.shape, expected=axes)
    bounds = array.min(initial=0), array.max(initial=0)
    if array.dtype != np.float32 or not -np.inf < bounds[0] <= bounds[1] < np.inf:
        raise TraceError("not_finite", site=site)


def check_gold(arrays: Arrays, steps: int, source: int) -> None:
    """The gold alignment is boolean, (T, S)."""
    gold = arrays.get("gold")
    if gold is not None and (gold.dtype != np.bool_ or gold.shape != (steps, source)):
        raise TraceError("bad_gold", got=gold.shape)


def check_steps(arrays: Arrays, candidates: int, steps: int, *, each: bool = True) -> None:
    """The steps are columns of one length, and each step has one chosen candidate.

    each: False where only some steps have candidates.
    """
    columns = {name: arrays.get(f"steps.{name}") for name in _STEPS}
    if all(column is None for column in columns.values()):
        return
    for name, column in columns.items():
        if column is None or column.shape != (candidates,):
            raise TraceError("bad_steps")
        if not np.issubdtype(column.dtype, _STEPS[name]):
            raise TraceError("bad_steps")
    step, probability = arrays["steps.step"], arrays["steps.probability"]
    if not candidates or step.min() < 1 or step.max() > steps:
        raise TraceError("bad_steps")
    if not ((probability >= 0) & (probability <= 1 + 1e-6)).all():  # NaN fails both
        raise TraceError("bad_steps")
    chosen = np.bincount(step[arrays["steps.chosen"]], minlength=steps + 1)[1:]
    least = min(int(arrays["steps.rank"].min()), int(arrays["steps.id"].min()))
    has_one = chosen == 1 if each else chosen == (np.bincount(step, minlength=steps + 1)[1:] > 0)
    if least < 0 or not has_one.all():
        raise TraceError("bad_steps")


def check_texts(
    tokens: Sequence[Sequence[str]], text: object, measured: Mapping[str, Any], facts: Any
) -> None:
    """Strings are valid UTF-8, measured errors finite, facts nested at most 8 deep."""
    strings = [text, *(token for part in tokens for token in part)]
    if not all(isinstance(string, str) and _is_valid(string) for string in strings):
        raise TraceError("bad_text")
    for name, error in measured.items():
        number = isinstance(error, float | int) and not isinstance(error, bool)
        if name not in MEASURED or not number or not math.isfinite(error):
            raise TraceError("bad_text")
    if not isinstance(facts, Mapping) or _depth(facts) > _DEEPEST_FACT:
        raise TraceError("bad_text")


def _is_valid(string: str) -> bool:
    """Whether UTF-8 can encode a string: it cannot encode surrogates."""
    return string.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in string)


def _depth(value: Any, above: int = 0) -> int:
    """How deeply lists and mappings are nested, counted no further than `_DEEPEST_FACT` + 1."""
    if not isinstance(value, Mapping | list | tuple) or above > _DEEPEST_FACT:
        return above
    inside = value.values() if isinstance(value, Mapping) else value
    return max((_depth(item, above + 1) for item in inside), default=above + 1)
