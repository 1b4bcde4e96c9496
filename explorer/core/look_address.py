"""A visit as the query of a URL, and back.

A query is untrusted text: each parameter is looked up in a list or checked against a range.
What fails the check is left out, and its name is returned, so that a page can say so.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from explorer.core.alignment import TIMINGS
from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.look import (
    INSIDE_VIEWS,
    MOST_FORCED,
    MOST_INTERVENTIONS,
    MOST_PADDING,
    NEXT_VIEWS,
    NO_INTERVENTIONS,
    SHOWN_MAPS,
    Reading,
    Request,
    Selection,
    Visit,
)
from explorer.core.moment_pair import MomentPair
from explorer.core.sites import SITES
from explorer.core.vocabulary import LONGEST_LINKED_TEXT

SECTIONS = (
    *("overview", "metrics", "roles", "alignment"),
    *("experiments", "compare", "removal", "pruning", "norms"),
)
"""The sections of the Heads page; it opens with the first. The URL parameter is "part"."""

COMPARE = "compare"
"""The section that compares two models, two moments of a run, two texts, or without and with the
interventions."""

OTHER_TEXT, CHANGES = "@text", "@changes"
"""In place of the name of a model, which has no "@": another text, and the same with the
interventions."""

_T = TypeVar("_T")
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_CELL = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
_LANGUAGE = re.compile(r"\w{1,24}", re.ASCII)
_LANGUAGES = ("source_language", "target_language")
_FORCED = re.compile(r"([0-9]{1,4})\.([0-9]{1,7})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Permalink:
    """A visit, the section of the Heads page, "" = its first, and what it compares: the name of a
    model, a `MomentPair`, `OTHER_TEXT`, `CHANGES`, or "" = the first that can be compared.

    other_text: that of `OTHER_TEXT`.
    """

    visit: Visit
    section: str = ""
    compared: str = ""
    other_text: str = ""


def to_query(permalink: Permalink) -> dict[str, str]:
    """The query that `from_query` reads back."""
    visit = permalink.visit
    request, selection = visit.request, visit.selection
    query = {"model": request.model, "text": request.text, "pad": str(request.pad)}
    if request.pair:
        query["pair"] = request.pair
    if request.reading is not None:
        for name in _LANGUAGES:
            if code := getattr(request.reading, name):
                query[name] = code
        if request.reading.chat:
            query["chat"] = "1"
    if request.forced:
        query["force"] = "_".join(f"{step}.{token}" for step, token in request.forced)
    if visit.interventions:
        query["do"] = ";".join(visit.interventions.texts())
    if permalink.section:
        query["part"] = permalink.section
    if permalink.compared == OTHER_TEXT:
        query["other_text"] = permalink.other_text
    elif permalink.compared:
        query["with"] = permalink.compared
    for name in ("site", "layer", "head", "step", "alignment"):
        if (value := getattr(selection, name)) is not None:
            query[name] = str(value)
    if selection.other is not None and permalink.section == COMPARE:
        query["other"] = "{}.{}".format(*selection.other)
    for name in ("shows", "next"):
        if (value := getattr(selection, name)) is not None:
            query[name] = value
    for name in ("guess", "words"):
        if getattr(selection, name):
            query[name] = "1"
    if selection.ahead is not None:
        query["ahead"] = str(int(selection.ahead))
    if selection.cell is not None:
        query["cell"] = "{}.{}".format(*selection.cell)
        if selection.inside is not None:
            query["inside"] = selection.inside
    return query


def from_query(
    query: Mapping[str, str], openings: Mapping[str, Request]
) -> tuple[Permalink, tuple[str, ...]]:
    """The permalink in a query, and the names of the parameters that were refused.

    openings: by the name of each listed model, the default one first, the request it opens with.
    """
    refused: list[str] = []
    model = _parameter(query, "model", refused, lambda name: name if name in openings else None)
    opening = openings[model or next(iter(openings))]
    text = _parameter(query, "text", refused, _text)
    pair = _parameter(query, "pair", refused, _text if opening.pair is not None else _nothing)
    pad = _parameter(query, "pad", refused, lambda word: _number(word, MOST_PADDING))
    same_model = "model" not in refused  # another one has other tokens and heads
    forced = _parameter(query, "force", refused, _forced) if same_model else None
    interventions = _parameter(query, "do", refused, _interventions) if same_model else None
    section = _parameter(query, "part", refused, lambda name: name if name in SECTIONS else None)
    compared = _parameter(
        query,
        "with",
        refused,
        lambda name: (
            name if name in openings or name == CHANGES or MomentPair.parse(name) else None
        ),
    )
    other_text = _parameter(query, "other_text", refused, _text)
    if other_text:
        if compared is not None:  # one of the two
            refused.append("with")
        compared = OTHER_TEXT
    padding = opening.pad if pad is None else pad
    reading = _reading(query, opening.reading, refused)
    texts = text or opening.text, opening.pair if pair is None else pair
    request = Request(opening.model, texts[0], padding, forced or (), texts[1], reading)
    selection = Selection(
        site=_parameter(query, "site", refused, lambda name: name if name in SITES else None),
        layer=_parameter(query, "layer", refused, _number),
        head=_parameter(query, "head", refused, _number),
        step=_parameter(query, "step", refused, _number),
        alignment=_parameter(
            query, "alignment", refused, lambda name: name if name in TIMINGS else None
        ),
        guess=_parameter(query, "guess", refused, _on),
        ahead=_parameter(query, "ahead", refused, {"0": False, "1": True}.get),
        cell=_parameter(query, "cell", refused, _cell),
        other=_parameter(query, "other", refused, _cell),
        inside=_parameter(
            query, "inside", refused, lambda name: name if name in INSIDE_VIEWS else None
        ),
        shows=_parameter(
            query, "shows", refused, lambda name: name if name in SHOWN_MAPS else None
        ),
        next=_parameter(query, "next", refused, lambda name: name if name in NEXT_VIEWS else None),
        words=_parameter(query, "words", refused, _on),
    )
    visit = Visit(request, selection, interventions or NO_INTERVENTIONS)
    found = Permalink(visit, section or "", compared or "", other_text or "")
    return found, tuple(refused)


def _reading(
    query: Mapping[str, str], opening: Reading | None, refused: list[str]
) -> Reading | None:
    """How the text is to be read; opening: None where the model has no choice. Only the model can
    tell whether it has such a language."""
    found = {
        name: _parameter(query, name, refused, _code if opening else _nothing)
        for name in _LANGUAGES
    }
    chat = _parameter(query, "chat", refused, _on if opening else _nothing)
    if opening is None:
        return None
    return Reading(**{name: code or "" for name, code in found.items()}, chat=bool(chat))


def _parameter(
    query: Mapping[str, str], name: str, refused: list[str], read: Callable[[str], _T | None]
) -> _T | None:
    """One parameter of a query; None where it is missing or, then added to `refused`, invalid."""
    if name not in query:
        return None
    value = read(query[name])
    if value is None:
        refused.append(name)
    return value


def _text(text: str) -> str | None:
    return text if len(text) <= LONGEST_LINKED_TEXT else None


def _nothing(word: str) -> None:
    """No value is one."""


def _code(word: str) -> str | None:
    return word if _LANGUAGE.fullmatch(word) else None


def _number(word: str, most: int = 9_999) -> int | None:
    return int(word) if _NUMBER.fullmatch(word) and int(word) <= most else None


def _on(word: str) -> bool | None:
    return word == "1" or None


def _cell(word: str) -> tuple[int, int] | None:
    """Query and key, or layer and head, from "3.5"."""
    match = _CELL.fullmatch(word)
    return (int(match[1]), int(match[2])) if match else None


def _forced(word: str) -> tuple[tuple[int, int], ...] | None:
    """Steps and token ids from "3.12_5.7"."""
    matches = [_FORCED.fullmatch(pair) for pair in word.split("_", MOST_FORCED)]
    pairs = {int(match[1]): int(match[2]) for match in matches if match}
    if len(pairs) < len(matches):
        return None
    return tuple(sorted(pairs.items()))


def _interventions(word: str) -> Interventions | None:
    """Interventions from "ablate cross.1.2;close cross.0.0 1 2". Only the model can tell
    whether it has such heads."""
    lines = word.split(";", MOST_INTERVENTIONS)
    try:
        return Interventions.parse(lines) if len(lines) <= MOST_INTERVENTIONS else None
    except InterventionError:
        return None
