"""A `Trace` as a payload for the player.

Weights are uint16, linear: weight = code / 65535 · scale, an error of at most 7.6e-6 when the
scale is 1. Eight bits would show 0.9689 for 0.9712.

The array "words" is the payload of the same trace with its subword pieces merged into words.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import __version__
from explorer.components.shared.payload import pack_payload, payload_bytes
from explorer.core.alignment import content
from explorer.core.i18n import section
from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import grouped, mark_of
from explorer.core.words import has_words, marks_words, merge, source_words, target_words

FORMAT_VERSION = 1
_STEPS = {  # smaller types than those of the trace: the candidates are a large part of a payload
    "step": np.uint16,
    "rank": np.uint32,
    "probability": np.float32,
    "chosen": np.uint8,
    "forced": np.uint8,
    "id": np.uint32,
}


@dataclass(frozen=True, slots=True)
class View:
    """What the player shows first, and what it offers.

    site, layer, head: the attention shown first; None = chosen by the player.
    step: 1..T; None = the last step.
    alignment: the row from which links are read, one of `TIMINGS`, or "off"; None = as before.
    ahead: whether rows not yet decoded are shown; None = only when `step` is None.
    what_if: whether a click on a candidate makes the app force that token.
    forced: (step, label) of each forced token.
    original: labels of the output without forced tokens, for comparison.
    guess: whether what comes next is hidden until it is guessed; None = as before.
    """

    site: str | None = None
    layer: int | None = None
    head: int | None = None
    step: int | None = None
    alignment: str | None = None
    ahead: bool | None = None
    what_if: bool = False
    forced: tuple[tuple[int, str], ...] = ()
    original: tuple[str, ...] = ()
    guess: bool | None = None


def player_payload(trace: Trace, *, language: str | None = "en", view: View | None = None) -> bytes:
    """`trace`, its integrity checks and the player's sentences in `language`.

    A trace of subword pieces also contains itself merged into words, so that the browser
    switches between both without the server.

    language: None leaves the sentences out, for a page that has them already.
    """
    shown = view or View()
    arrays, header = _trace_parts(trace)
    if has_words(trace):
        arrays["words"] = payload_bytes(_words_payload(trace, shown))
    header |= {
        "version": FORMAT_VERSION,
        "project": f"Attention explorer {__version__}",
        "reasons": REASONS,
        "integrity": trace.integrity().to_dict("records"),
        "language": language or "en",
        "strings": section("player", language) if language else {},
        "view": asdict(shown),
        "marked": marks_words(trace),
    }
    return pack_payload(header, arrays)


def _words_payload(trace: Trace, view: View) -> bytes:
    """The trace merged into words, with a header that holds only what differs.

    "rows" and "columns": position of the last piece of each target and source word.
    "prompt": the words that begin in the prompt.
    """
    arrays, header = _trace_parts(merge(trace))
    words = target_words(trace)
    rows = [word.stop - 1 for word in words]
    prompt = sum(word.start < _prompt(trace) for word in words)
    columns = [word.stop - 1 for word in source_words(trace)]
    labels = (*trace.source_tokens, *trace.target_tokens, *view.original)
    original = [word.label for word in grouped(view.original, mark_of(labels))]
    own = {"rows": rows, "columns": columns, "original": original, "prompt": prompt}
    return pack_payload(header | own, arrays)


def _trace_parts(trace: Trace) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of one trace, and its part of the header."""
    labels = sorted(set(trace.candidate_tokens))
    arrays = _site_arrays(trace) | _step_arrays(trace, labels)
    if trace.gold is not None:
        arrays["gold"] = np.packbits(trace.gold, bitorder="little")  # (T · S bits)
    source, outputs = content(trace)
    return arrays, {
        "source": trace.source_tokens,
        "target": trace.target_tokens,
        "predicted": trace.predicted_tokens,
        "text": trace.text,
        "content": {"source": source.tolist(), "outputs": outputs.tolist()},
        "sites": {site: _site_header(trace, site) for site in trace.sites},
        "labels": labels,
        "facts": dict(trace.facts),
        "prompt": _prompt(trace),
    }


def _prompt(trace: Trace) -> int:
    """How many of the tokens fed in are the prompt of a model with a decoder alone, else 0."""
    known = trace.facts.get("prompt")
    if not isinstance(known, int) or trace.source_tokens:
        return 0
    return min(max(known, 0), len(trace.target_tokens))


def _site_header(trace: Trace, site: str) -> dict[str, Any]:
    """ "removed": layer, head and replacement of each head that was removed."""
    weights = trace.attention(site)
    removed = removed_heads(trace.facts, site, *weights.shape[:2])
    return {
        "shape": weights.shape,
        "numbers": trace.layer_numbers(site),
        "scale": _scale(weights),
        "packed": _packed(trace, site),
        "removed": [(*place, how) for place, how in removed.items()],
    }


def _site_arrays(trace: Trace) -> dict[str, NDArray[Any]]:
    """Weight codes and mask codes of every site; a mask without masked cells is left out."""
    arrays: dict[str, NDArray[Any]] = {}
    for site in trace.sites:
        weights, masked = trace.attention(site), trace.arrays[f"{site}.closed"]
        codes = np.clip(weights / _scale(weights), 0, 1) * 65535
        codes = np.rint(codes).astype(np.uint16)  # (layer, head, query, key)
        if _packed(trace, site):
            codes = codes[:, :, masked == UNMASKED]  # (layer, head, unmasked cell)
        arrays[f"{site}.attention"] = codes
        if masked.any():
            arrays[f"{site}.closed"] = masked
    return arrays


def _packed(trace: Trace, site: str) -> bool:
    """Whether only unmasked cells are sent: one mask for all heads, and zeros at masked cells."""
    masked = trace.arrays[f"{site}.closed"]
    if masked.ndim != 2 or not masked.any():
        return False
    return not trace.attention(site)[:, :, masked != UNMASKED].any()


def _scale(weights: NDArray[np.float32]) -> float:
    """The weight that the largest code stands for: 1, or more where a weight exceeds 1."""
    return max(1.0, float(weights.max()))


def _step_arrays(trace: Trace, labels: list[str]) -> dict[str, NDArray[Any]]:
    """The candidates of all steps, one entry each; labels as indices into `labels`."""
    if "steps.step" not in trace.arrays:
        return {}
    index = {label: position for position, label in enumerate(labels)}
    arrays: dict[str, NDArray[Any]] = {
        f"steps.{name}": trace.arrays[f"steps.{name}"].astype(kind) for name, kind in _STEPS.items()
    }
    tokens = [index[token] for token in trace.candidate_tokens]
    arrays["steps.label"] = np.array(tokens, dtype=np.uint32)
    return arrays
