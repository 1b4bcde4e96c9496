"""Where a visitor stands, as a value and as the query of a link.

A link is text that anybody may write: every part of it is looked up or checked against a
range, and what does not pass is left out and named, so that a page can say so.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.core.vocabulary import LONGEST_LINKED_TEXT

PAD = 2
"""Padding a page opens with, so that both kinds of closed cell are on screen."""

MOST_PADDING = 16
MOST_FORCED = 64
MOST_DONE = 24
"""Interventions a page takes at a time."""

PARTS = ("overview", "metrics", "roles", "experiments", "removal", "norms")
"""What there is to look at on Heads, what it opens with first."""

_T = TypeVar("_T")
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_FORCED = re.compile(r"([0-9]{1,4})\.([0-9]{1,7})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the player shows; None = what it thinks best. Steps count from 1."""

    site: str | None = None
    layer: int | None = None
    head: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What is traced: `text` by the model called `model`, `pad` more tokens, and forced steps.

    forced: (step, id) in the order of the steps.
    done: what is done to the model meanwhile, one line each; see `interventions`.
    """

    model: str
    text: str
    pad: int = PAD
    forced: tuple[tuple[int, int], ...] = ()
    done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A request, and where in its trace a visitor looks; on Heads, at which part of the page."""

    request: Request
    selection: Selection = Selection()
    part: str = ""


def to_query(place: Place) -> dict[str, str]:
    """The query that `from_query` reads back."""
    request, selection = place.request, place.selection
    query = {"model": request.model, "text": request.text, "pad": str(request.pad)}
    if request.forced:
        query["force"] = "_".join(f"{step}.{token}" for step, token in request.forced)
    if request.done:
        query["do"] = ";".join(request.done)
    if place.part:
        query["part"] = place.part
    for name in ("site", "layer", "head", "step"):
        if (value := getattr(selection, name)) is not None:
            query[name] = str(value)
    return query


def from_query(query: Mapping[str, str], texts: Mapping[str, str]) -> tuple[Place, tuple[str, ...]]:
    """The place a query names, and the names of its parts that were refused.

    texts: the listed models, the default one first, each with the text it opens with.
    """
    refused: list[str] = []
    model = _part(query, "model", refused, lambda name: name if name in texts else None)
    known = model or next(iter(texts))
    text = _part(
        query, "text", refused, lambda text: text if len(text) <= LONGEST_LINKED_TEXT else None
    )
    pad = _part(query, "pad", refused, lambda word: _number(word, MOST_PADDING))
    forced = _part(query, "force", refused, _forced) if "model" not in refused else None
    done = _part(query, "do", refused, _done) if "model" not in refused else None
    part = _part(query, "part", refused, lambda name: name if name in PARTS else None)
    pad = PAD if pad is None else pad
    request = Request(known, text or texts[known], pad, forced or (), done or ())
    selection = Selection(
        site=_part(query, "site", refused, lambda name: name if name in SITES else None),
        layer=_part(query, "layer", refused, _number),
        head=_part(query, "head", refused, _number),
        step=_part(query, "step", refused, _number),
    )
    return Place(request, selection, part or ""), tuple(refused)


def within(selection: Selection, trace: Trace) -> tuple[Selection, tuple[str, ...]]:
    """`selection` as far as `trace` has it, and the names of the parts it has not."""
    site = selection.site
    if site is not None and site not in trace.sites:
        return Selection(step=selection.step), ("site",)
    layers, heads = trace.attention(site or trace.sites[-1]).shape[:2]
    limits = {
        "layer": range(layers),
        "head": range(heads),
        "step": range(1, len(trace.target_tokens) + 1),
    }
    refused = tuple(
        name
        for name, limit in limits.items()
        if (value := getattr(selection, name)) is not None and value not in limit
    )
    return replace(selection, **dict.fromkeys(refused)), refused


def _part(
    query: Mapping[str, str], name: str, refused: list[str], read: Callable[[str], _T | None]
) -> _T | None:
    """One part of a query, None where it is missing or, then noted in `refused`, not readable."""
    if name not in query:
        return None
    value = read(query[name])
    if value is None:
        refused.append(name)
    return value


def _short_enough(text: str) -> str | None:
    return text if len(text) <= LONGEST_LINKED_TEXT else None


def _number(word: str, most: int = 9_999) -> int | None:
    return int(word) if _NUMBER.fullmatch(word) and int(word) <= most else None


def _forced(word: str) -> tuple[tuple[int, int], ...] | None:
    """Steps and ids from "3.12_5.7"."""
    matches = [_FORCED.fullmatch(pair) for pair in word.split("_", MOST_FORCED)]
    pairs = {int(match[1]): int(match[2]) for match in matches if match}
    if len(pairs) < len(matches):
        return None
    return tuple(sorted(pairs.items()))


def _done(word: str) -> tuple[str, ...] | None:
    """Interventions from "ablate cross.1.2;close cross.0.0 1 2"; whether this model and this
    text have them is for the model to say."""
    lines = word.split(";", MOST_DONE)
    try:
        return Interventions.parse(lines).texts() if len(lines) <= MOST_DONE else None
    except InterventionError:
        return None
