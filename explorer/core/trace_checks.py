"""Checks of a `Trace`: whether its parts are valid, and the errors of its integrity.

The checks on parts, wherever these come from, raise `TraceError`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.predictions import check_predictions
from explorer.core.sites import sides

MEASURED = (
    "hooked_equals_plain",
    "cached_equals_full",
    "padding_changes_nothing",
    "equals_library",
    "recomputed_equals_output",
)
"""The integrity checks that only a model can measure."""

_LIMITS = {  # largest error of a genuine trace in float32
    "rows_sum_to_one": 1e-5,
    "masked_cells_are_zero": 0.0,
    "hooked_equals_plain": 1e-4,
    "cached_equals_full": 1e-4,
    "padding_changes_nothing": 1e-4,
    "equals_library": 1e-6,
    "recomputed_equals_output": 1e-4,
    "unchanged_since_capture": 0.0,
}
_LIMITS["rows_and_sink_sum_to_one"] = _LIMITS["rows_sum_to_one"]

_HALF_LIMITS = {  # the same in bfloat16, whose numbers have eight bits
    "rows_sum_to_one": 1e-2,
    "rows_and_sink_sum_to_one": 1e-2,
    "hooked_equals_plain": 2e-2,
    "cached_equals_full": 0.5,
    "padding_changes_nothing": 0.5,
    "recomputed_equals_output": 2e-2,
}

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


def check_arrays(
    arrays: Arrays, facts: Any, sites: Sequence[str], source: int, target: int, candidates: int
) -> None:
    """The arrays of a trace fit together; source, target, candidates: numbers of its tokens."""
    axes = sides(source, target)
    for site in sites:
        _check_site(arrays, site, *axes[site])
    _check_stack(arrays, "encoder", source)
    _check_stack(arrays, "decoder", target)
    _check_numbers(arrays, "logits", (target,), "logits")
    _check_early(arrays, facts, target)
    _check_gold(arrays, target, source)
    check_predictions(arrays, facts, source or target)
    _check_steps(arrays, candidates, target or source, each=target > 0)


def _check_site(arrays: Arrays, site: str, queries: int, keys: int) -> None:
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


def _check_stack(arrays: Arrays, stack: str, tokens: int) -> None:
    """The arrays of a stack beside its attention have one vector for each of `tokens`."""
    for kind in ("feed_forward_hidden", "feed_forward_output", "layer_output"):
        name = f"{stack}.{kind}"
        layers = arrays[name].shape[:1] if name in arrays else ()
        _check_numbers(arrays, name, (*layers, tokens), stack)
    for kind in ("token_vectors", "embedding", "stack_output"):
        _check_numbers(arrays, f"{stack}.{kind}", (tokens,), stack)


def _check_early(arrays: Arrays, facts: Any, steps: int) -> None:
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


def _check_gold(arrays: Arrays, steps: int, source: int) -> None:
    """The gold alignment is boolean, (T, S), or (T, T) without a source."""
    gold = arrays.get("gold")
    if gold is not None and (gold.dtype != np.bool_ or gold.shape != (steps, source or steps)):
        raise TraceError("bad_gold", got=gold.shape)


def _check_steps(arrays: Arrays, candidates: int, steps: int, *, each: bool = True) -> None:
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


def weight_errors(arrays: Arrays, sites: Sequence[str]) -> dict[str, float]:
    """The integrity errors of the weights: the largest distance of a row's sum from 1, and the
    largest weight on a masked cell. A row without an unmasked key is padding."""
    row_sum, masked_weight = 0.0, 0.0
    for site in sites:
        weights = arrays[f"{site}.attention"]
        unmasked = arrays[f"{site}.closed"] == UNMASKED
        sums = weights.sum(-1, dtype=np.float64)  # (layer, head, query)
        sums = sums + arrays.get(f"{site}.sink", 0)
        row_sum = max(row_sum, float((np.abs(sums - 1) * unmasked.any(-1)).max(initial=0)))
        worst = weights.max(where=~unmasked, initial=0)  # without a second copy
        masked_weight = max(masked_weight, float(worst))
    sinks = any(f"{site}.sink" in arrays for site in sites)
    row_check = "rows_and_sink_sum_to_one" if sinks else "rows_sum_to_one"
    return {row_check: row_sum, "masked_cells_are_zero": masked_weight}


def is_checked_earlier(measured: Mapping[str, float], facts: Mapping[str, Any]) -> bool:
    """Whether the model measured an earlier text of the same kind of call instead of a trace."""
    return facts.get("check") == "once" and "hooked_equals_plain" not in measured


def integrity_limits(facts: Mapping[str, Any]) -> Mapping[str, float]:
    """The largest error of a genuine trace with these facts, by integrity check."""
    return _LIMITS | _HALF_LIMITS if facts.get("precision") == "half" else _LIMITS


def _is_valid(string: str) -> bool:
    """Whether UTF-8 can encode a string: it cannot encode surrogates."""
    return string.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in string)


def _depth(value: Any, above: int = 0) -> int:
    """How deeply lists and mappings are nested, counted no further than `_DEEPEST_FACT` + 1."""
    if not isinstance(value, Mapping | list | tuple) or above > _DEEPEST_FACT:
        return above
    inside = value.values() if isinstance(value, Mapping) else value
    return max((_depth(item, above + 1) for item in inside), default=above + 1)
