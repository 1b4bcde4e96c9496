"""A `Trace` as a payload for the player.

The weights are coded as in `weights.py`. A large trace is sent without them: the payload has a
small picture of every head, and the browser requests the weights of a head when it is chosen.

The array "words" is the payload of the same trace with its subword pieces merged into words.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from explorer.components.payload import PROJECT, pack_payload, payload_bytes
from explorer.components.player.pictures import site_headers, site_pictures
from explorer.components.player.sentences import player_sentences
from explorer.components.player.weights import (
    gold_weights,
    scale_of,
    site_facts,
    weight_codes,
    words_without_weights,
)
from explorer.core.look import Request, Selection
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.predictions import prediction_in
from explorer.core.trace import Trace, second_text
from explorer.core.word_segmentation import grouped
from explorer.core.words import (
    content,
    has_words,
    marks_words,
    merge,
    source_words,
    target_words,
    word_axes,
    word_mark,
)
from explorer.heads.initial_head import initial_head

FORMAT_VERSION = 1

_MOST_TAGS = 3
"""Most labels sent per token. A row shows the first one, and the others on hover."""

_STEPS = {  # smaller types than those of the trace: the candidates are a large part of a payload
    "step": np.uint16,
    "rank": np.uint32,
    "probability": np.float32,
    "chosen": np.uint8,
    "forced": np.uint8,
    "id": np.uint32,
}


@dataclass(frozen=True, slots=True)
class View(Selection):
    """Initial view of the player, and its options.

    site, layer, head: None = chosen by the player; with a layer but no head, the mean of the layer.
    step: None = the last step. ahead: None = only with the last step.
    alignment: "off" = no links. alignment, guess, inside: None = as before.
    what_if: whether a click on a candidate makes the app force that token.
    forced: (step, label) of each forced token.
    original: labels of the output without forced tokens, for comparison.
    suggested: whether the app, and not a link, chose `step`, as one that shows much.
    """

    what_if: bool = False
    forced: tuple[tuple[int, str], ...] = ()
    original: tuple[str, ...] = ()
    suggested: bool = False

    @classmethod
    def of(cls, selection: Selection, **offered: Any) -> Self:
        """A view of `selection` alone: anything it does not name is reset, whatever was shown
        before.

        offered: further fields, and fields that differ from the selection.
        """
        named = {one.name: getattr(selection, one.name) for one in fields(Selection)}
        ended = {"alignment": selection.alignment or "off", "guess": bool(selection.guess)}
        return cls(**(named | ended | offered))


def view_of_changes(request: Request, trace: Trace, original: Trace) -> View:
    """View with the forced tokens of `request`, whose trace this is, and the output of `original`,
    the trace without its changes."""
    taken = _taken(trace)
    forced = tuple((step, taken[step]) for step, _ in request.forced)
    return View(forced=forced, original=original.predicted_tokens)


def _taken(trace: Trace) -> dict[int, str]:
    """Step → label of the token chosen there. Mask tokens have steps, too."""
    if trace.predicted_tokens:
        return dict(enumerate(trace.predicted_tokens, start=1))
    steps = trace.steps()
    chosen = steps[steps.chosen.astype(bool)]
    return dict(zip(chosen.step.tolist(), chosen.token.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Offer:
    """Questions that a browser can ask about a trace.

    address: base address of the questions, relative to the page; "" if no server answers.
    names: of `TRACE_QUESTIONS`.
    methods: of contributions, of `SHOWN_MAPS`.
    """

    address: str = ""
    names: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


NOTHING = Offer()

Sites: TypeAlias = tuple[dict[str, NDArray[Any]], dict[str, dict[str, Any]]]
"""The arrays of all sites, and the header of each."""


def player_payload(
    trace: Trace,
    *,
    language: str | None = "en",
    view: View | None = None,
    offer: Offer = NOTHING,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """`trace`, its integrity checks and the player's sentences in `language`.

    A trace of subword pieces also contains itself merged into words, so that the browser
    switches between both without the server; with "pictures" offered, without pictures of words.

    language: None leaves the sentences out, for a page that has them already.
    offer: questions the browser can ask about the trace; with "head" among them, a large trace
        is sent without its weights, with "integrity" without its checks, which read all weights.
    more: further fields of the header.
    """
    shown = view or View()
    large = "head" in offer.names
    if large:
        shown = replace(shown, **initial_head_of(trace, shown))
    in_words = has_words(trace)
    asked = "pictures" in offer.names  # the browser asks for those of words
    maps = _maps(trace) * (2 if in_words and not asked else 1) if large else None
    arrays, header = _trace_parts(trace, maps)
    if in_words:
        sites = _sites_in_words(trace, None if asked else maps) if large else None
        arrays["words"] = payload_bytes(_words_payload(trace, shown, sites))
    header |= {
        "version": FORMAT_VERSION,
        "project": PROJECT,
        "reasons": REASONS,
        "integrity": None if "integrity" in offer.names else integrity_checks(trace),
        "language": language or "en",
        "strings": player_sentences(language) if language else {},
        "view": asdict(shown),
        "marked": marks_words(trace),
    }
    if (predictions := _predictions(trace)) is not None:
        header["predictions"] = predictions
    if offer.names:
        header["resources"] = asdict(offer)
    return pack_payload(header | dict(more or {}), arrays)


def integrity_checks(trace: Trace) -> list[dict[Hashable, Any]]:
    """Rows of `Trace.integrity`."""
    return trace.integrity().to_dict("records")


def _predictions(trace: Trace) -> dict[str, Any] | None:
    """Predictions of a model without next-token output; the most probable labels of each token."""
    found = prediction_in(trace.arrays, trace.facts)
    if found is None:
        return None
    most = _MOST_TAGS if found.kind.of_tokens else len(found.labels)
    columns = {name: column.tolist() for name, column in found.columns.items()}
    rows = [
        {"label": label, **{name: column[row] for name, column in columns.items()}}
        for row, label in enumerate(found.labels)
        if columns["rank"][row] <= most or columns["chosen"][row]
    ]
    for row in rows:
        if math.isnan(row["probability"]):
            row["probability"] = None
    return {"kind": str(found.kind), "rows": rows}


def initial_head_of(trace: Trace, view: View) -> dict[str, Any]:
    """Site, layer and head of `view`. If it names no head: at the cross site the head that shows
    most, at another site head 0 of layer 0."""
    site = view.site if view.site in trace.sites else trace.sites[-1]
    if view.layer is not None or view.head is not None:
        return {"site": site, "layer": view.layer, "head": view.head}
    best = initial_head(trace) if site == "cross" else None
    return {"site": site, "layer": best.layer if best else 0, "head": best.head if best else 0}


def _maps(trace: Trace) -> int:
    """Heads of all layers and sites."""
    return sum(math.prod(trace.attention(site).shape[:2]) for site in trace.sites)


def _sites_in_words(trace: Trace, maps: int | None) -> Sites:
    """The sites of a large trace in words.

    maps: as in `site_pictures`; None = without pictures.
    """
    axes = word_axes(trace)
    return ({}, site_headers(trace, axes)) if maps is None else site_pictures(trace, maps, axes)


def _words_payload(trace: Trace, view: View, sites: Sites | None) -> bytes:
    """The trace merged into words, with a header that holds only what differs.

    sites: of a large trace; None = with all weights.
    "rows" and "columns": position of the last piece of each target and source word.
    "prompt": the words that begin in the prompt. "second": of two texts, those in the first.
    """
    if sites is None:
        arrays, header = _trace_parts(merge(trace))
    else:
        arrays, header = _parts(words_without_weights(trace), *sites)
    words = target_words(trace)
    rows = [word.stop - 1 for word in words]
    prompt = sum(word.start < _prompt(trace) for word in words)
    columns = [word.stop - 1 for word in source_words(trace)]
    original = [word.label for word in grouped(view.original, word_mark(trace))]
    own = {"rows": rows, "columns": columns, "original": original, "prompt": prompt}
    if (second := second_text(trace)) is not None:
        own["second"] = sum(word.start < second for word in source_words(trace))
    return pack_payload(header | own, arrays)


def _trace_parts(
    trace: Trace, maps: int | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of one trace, and its part of the header.

    maps: pictures in the whole payload of a large trace; None = all weights.
    """
    if maps is not None:
        arrays, sites = site_pictures(trace, maps)
        if (gold := gold_weights(trace)) is not None:
            sites[trace.gold_site]["gold"] = gold
    else:
        arrays, sites = _whole_sites(trace)
    return _parts(trace, arrays, sites)


def _parts(
    trace: Trace, arrays: dict[str, NDArray[Any]], sites: dict[str, dict[str, Any]]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """`arrays` of the attention with all other arrays, and the header with `sites`."""
    labels = sorted(set(trace.candidate_tokens))
    arrays = arrays | _step_arrays(trace, labels)
    if trace.gold is not None:
        arrays["gold"] = np.packbits(trace.gold, bitorder="little")  # bits of all cells
    source, outputs = content(trace)
    second = second_text(trace)
    return arrays, {
        "source": trace.source_tokens,
        "target": trace.target_tokens,
        "predicted": trace.predicted_tokens,
        "text": trace.text,
        "content": {"source": source.tolist(), "outputs": outputs.tolist()},
        "sites": sites,
        "labels": labels,
        "facts": dict(trace.facts),
        "prompt": _prompt(trace),
        **({} if second is None else {"second": second}),
    }


def _prompt(trace: Trace) -> int:
    """Number of tokens fed in that are the prompt of a decoder-only model; else 0."""
    known = trace.facts.get("prompt")
    if not isinstance(known, int) or trace.source_tokens:
        return 0
    return min(max(known, 0), len(trace.target_tokens))


def _whole_sites(trace: Trace) -> Sites:
    """Weight codes and mask codes of every site, and the header of each.

    A mask without masked cells is left out. "packed": only unmasked cells are sent, because all
    heads have one mask and zeros at masked cells.
    """
    arrays: dict[str, NDArray[Any]] = {}
    headers: dict[str, dict[str, Any]] = {}
    for site in trace.sites:
        weights, mask_codes = trace.attention(site), trace.arrays[f"{site}.closed"]
        masked, scale = mask_codes != UNMASKED, scale_of(weights)
        packed = mask_codes.ndim == 2 and bool(masked.any()) and not weights[:, :, masked].any()
        codes = weight_codes(weights, scale)  # (layer, head, query, key)
        # packed: (layer, head, unmasked cell)
        arrays[f"{site}.attention"] = codes[:, :, ~masked] if packed else codes
        if masked.any():
            arrays[f"{site}.closed"] = mask_codes
        facts = site_facts(trace, site)
        headers[site] = {"shape": weights.shape, "scale": scale, "packed": packed, **facts}
    return arrays, headers


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
