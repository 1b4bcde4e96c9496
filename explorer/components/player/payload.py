"""A `Trace` as the bytes the player eats.

    uint32, little endian      length of the header, a multiple of 4
    header                     JSON, UTF-8, padded with spaces
    arrays                     each at a multiple of 4 bytes, at the places the header names

Weights are uint16, linear: weight = code / 65535 · scale, off by 7.6e-6 at most when the scale
is 1. Eight bits would show 0.9689 for 0.9712.

The array "words" is such a run of bytes itself.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.alignment import content
from explorer.core.i18n import section
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import grouped, mark_of
from explorer.core.words import has_words, marks_words, merge, source_words, target_words

FORMAT_VERSION = 1
_STEPS = {  # smaller types than the trace's own: a step has few candidates, a page many steps
    "step": np.uint16,
    "rank": np.uint32,
    "probability": np.float32,
    "chosen": np.uint8,
    "forced": np.uint8,
    "id": np.uint32,
}


@dataclass(frozen=True, slots=True)
class View:
    """How the player opens, and what it may do.

    site, layer, head: the attention shown first; None = the one the player thinks best.
    step: 1..T; None = the last one.
    ahead: whether rows not yet decoded are shown; None = only when `step` is None.
    what_if: whether a click on a candidate asks the app to go on from it.
    forced: (step, label) of each token a person chose.
    original: labels of the output without them, to compare with.
    """

    site: str | None = None
    layer: int | None = None
    head: int | None = None
    step: int | None = None
    ahead: bool | None = None
    what_if: bool = False
    forced: tuple[tuple[int, str], ...] = ()
    original: tuple[str, ...] = ()


def payload(trace: Trace, *, language: str = "en", view: View | None = None) -> bytes:
    """`trace`, its integrity and the player's sentences in `language`, as one run of bytes.

    Where pieces make up words, the same trace in words is among the arrays, as a run of bytes
    of its own whose header holds only what differs: so the browser can switch by itself.
    """
    shown = view or View()
    arrays, header = _parts(trace)
    if has_words(trace):
        arrays["words"] = np.frombuffer(_in_words(trace, shown), dtype=np.uint8)
    header |= {
        "version": FORMAT_VERSION,
        "reasons": REASONS,
        "integrity": trace.integrity().to_dict("records"),
        "language": language,
        "strings": section("player", language),
        "view": asdict(shown),
        "marked": marks_words(trace),
    }
    return _packed_up(arrays, header)


def _in_words(trace: Trace, view: View) -> bytes:
    """The trace of words: each row's last piece says to which step of the pieces it belongs,
    each source word's last piece how to sum over its keys."""
    arrays, header = _parts(merge(trace))
    rows = [word.stop - 1 for word in target_words(trace)]
    columns = [word.stop - 1 for word in source_words(trace)]
    labels = (*trace.source_tokens, *trace.target_tokens, *view.original)
    original = [word.label for word in grouped(view.original, mark_of(labels))]
    return _packed_up(arrays, header | {"rows": rows, "columns": columns, "original": original})


def _parts(trace: Trace) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of one trace, and what a header says about them."""
    labels = sorted(set(trace.candidate_tokens))
    arrays = _site_arrays(trace) | _step_arrays(trace, labels)
    if trace.gold is not None:
        arrays["gold"] = np.packbits(trace.gold, bitorder="little")  # (T · S bits)
    source, outputs = content(trace)
    return arrays, {
        "source": trace.source_tokens,
        "target": trace.target_tokens,
        "predicted": trace.predicted_tokens,
        "content": {"source": source.tolist(), "outputs": outputs.tolist()},
        "sites": {site: _site_header(trace, site) for site in trace.sites},
        "labels": labels,
        "facts": dict(trace.facts),
    }


def _packed_up(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> bytes:
    """Length, header and arrays, as the head of this file says."""
    places, body = _laid_out(arrays)
    whole = _finite({**header, "arrays": places})
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    head = text.encode("utf-8", errors="replace")
    head += b" " * (-len(head) % 4)
    return struct.pack("<I", len(head)) + head + body


def _site_header(trace: Trace, site: str) -> dict[str, Any]:
    weights = trace.attention(site)
    return {"shape": weights.shape, "scale": _scale(weights), "packed": _packed(trace, site)}


def _site_arrays(trace: Trace) -> dict[str, NDArray[Any]]:
    """Weights and closed codes of every site; an all-open mask is left out."""
    arrays: dict[str, NDArray[Any]] = {}
    for site in trace.sites:
        weights, closed = trace.attention(site), trace.arrays[f"{site}.closed"]
        codes = np.clip(weights / _scale(weights), 0, 1) * 65535
        codes = np.rint(codes).astype(np.uint16)  # (layer, head, query, key)
        if _packed(trace, site):
            codes = codes[:, :, closed == UNMASKED]  # (layer, head, open cell)
        arrays[f"{site}.attention"] = codes
        if closed.any():
            arrays[f"{site}.closed"] = closed
    return arrays


def _packed(trace: Trace, site: str) -> bool:
    """Whether only open cells travel: one mask for all heads, and nothing behind it."""
    closed = trace.arrays[f"{site}.closed"]
    if closed.ndim != 2 or not closed.any():
        return False
    return not trace.attention(site)[:, :, closed != UNMASKED].any()


def _scale(weights: NDArray[np.float32]) -> float:
    return max(1.0, float(weights.max()))


def _step_arrays(trace: Trace, labels: list[str]) -> dict[str, NDArray[Any]]:
    """The candidates, one entry each, their labels as places in `labels`."""
    if "steps.step" not in trace.arrays:
        return {}
    places = {label: place for place, label in enumerate(labels)}
    arrays: dict[str, NDArray[Any]] = {
        f"steps.{name}": trace.arrays[f"steps.{name}"].astype(kind) for name, kind in _STEPS.items()
    }
    tokens = [places[token] for token in trace.candidate_tokens]
    arrays["steps.label"] = np.array(tokens, dtype=np.uint32)
    return arrays


def _laid_out(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, dict[str, Any]], bytes]:
    """Where each array lies, and all of them one after the other."""
    places: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    start = 0
    for name, array in arrays.items():
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        data = little.tobytes()
        data += b"\0" * (-len(data) % 4)
        places[name] = {"type": array.dtype.name, "start": start, "length": array.size}
        parts.append(data)
        start += len(data)
    return places, b"".join(parts)


def _finite(value: Any) -> Any:
    """`value` with null for every number JSON has no word for."""
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, np.generic):
        return _finite(value.item())
    return value
