"""A visitor's request to a model, and the part of the answer on screen: each field declared once.

The declarations define the address (`to_query`, `from_query`), the values that a browser may
report, the fields that guests of a class follow, and `trace/js/look.ts` for the components (`make
bundles`). How a field of each kind is written and checked is in `address_fields.py`.
"""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from explorer.core.address_fields import (
    FLAG,
    FORCED,
    INTERVENTIONS,
    LANGUAGE,
    NAME,
    NUMBER,
    PAIR,
    SECOND_TEXT,
    STEP,
    SWITCH,
    TEXT,
    ZOOM,
    LanguageCode,
    asked,
    choice,
    declared,
    number,
    shown,
    words_of,
    wrong_drawing,
)
from explorer.core.alignment import TIMINGS
from explorer.core.interventions import Interventions
from explorer.core.section_questions import QUESTIONS
from explorer.core.sites import SITES, Head
from explorer.core.trace import Trace
from explorer.core.zoom import Zoom

INSIDE_VIEWS = ("before", "score", "after", "depth", "without")
"""Alternative views of the panel *Inside*; its default is the calculation of a cell."""

SHOWN_MAPS = (
    "alti",
    "value_norm",
    "value_norm_residual",
    "alti_plus",
    "rollout",
    "leave_one_out",
)
"""Methods of contributions that the large map can show instead of a head's weights: first those of
one attention, then those of the whole input."""

NEXT_VIEWS = ("heads",)
"""Alternative views beside the map; the default is the probabilities of the next token."""

SECTIONS = ("overview", "compare", "metrics", "removal", "search")
"""The sections of the Heads page; it opens with the first. The URL parameter is "part"."""

MOVED_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "alignment": {"part": "metrics"},
    "beam": {"part": "overview"},
    "experiments": {"part": "compare", "with": "@changes"},
    "norms": {"part": "overview"},
    "pruning": {"part": "removal"},
    "roles": {"part": "metrics"},
}
"""A section of an earlier version → the parameters of what a link to it opens now."""

COMPARE = "compare"
"""The section that compares two models, two moments of a run, two texts, or a text without and with
the interventions."""

OTHER_TEXT, CHANGES = "@text", "@changes"
"""Values of `Look.compared` that are not model names, which have no "@": another text, and the same
text with the interventions."""

MOST_PADDING = 16
NO_INTERVENTIONS = Interventions()
_MOMENT_PAIR = re.compile(r"((?:runs|recorded)/[^@]{1,80})@([0-9]{1,9})-([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a trace on screen; None = the component's default. Steps count from 1.

    alignment: the row from which the shown links are read, one of `TIMINGS`; None = no links.
    guess: True if the next token is hidden until it is guessed.
    ahead: whether rows not yet decoded are shown.
    zoom: the part of the map on screen; None = all.
    cell: (query, key) of the cell whose arithmetic is shown; None = none.
    inside: one of `INSIDE_VIEWS`, shown of that cell; None = its arithmetic.
    shows: one of `SHOWN_MAPS`, shown of the layer; None = weights.
    other: (layer, head) of the second side that this head is compared with; None = the one that
        the comparison opens with.
    next: one of `NEXT_VIEWS`; None = probabilities.
    words: True if pieces are merged into words; steps still count pieces.
    everything: True if all controls and numbers are shown, not only those of a first look.
    """

    site: str | None = shown(choice(SITES), limit="sites")
    layer: int | None = shown(NUMBER, limit="layers")
    head: int | None = shown(NUMBER, limit="heads")
    step: int | None = shown(STEP, limit="steps")
    alignment: str | None = shown(choice(TIMINGS))
    guess: bool | None = shown(FLAG)
    ahead: bool | None = shown(SWITCH)
    zoom: Zoom | None = shown(ZOOM, limit="zooms")  # noqa: RUF009  (what it returns is never changed)
    cell: tuple[int, int] | None = shown(PAIR, limit="cells", state="inside")
    inside: str | None = shown(choice(INSIDE_VIEWS), state="insideView")
    shows: str | None = shown(choice(SHOWN_MAPS), needs_server=True)
    other: tuple[int, int] | None = shown(PAIR, state="")
    next: str | None = shown(choice(NEXT_VIEWS), state="nextView", needs_server=True)
    words: bool | None = shown(FLAG)
    everything: bool | None = shown(FLAG)

    @classmethod
    def reported(cls, report: Mapping[str, object]) -> Self:
        """The selection that a component in the browser reports, without its malformed fields."""
        return cls(**{name: one.kind.take(report.get(name)) for name, one in _SHOWN.items()})

    @property
    def named_head(self) -> Head | None:
        """The head on screen, or None if the selection does not name a single one."""
        if self.site is None or self.layer is None or self.head is None:
            return None
        return Head(self.site, self.layer, self.head)

    def or_head(self, head: Head | None) -> Self:
        """This selection; with site, layer and head of `head` if it names none of them."""
        if head is None or (self.site, self.layer, self.head) != (None, None, None):
            return self
        return replace(self, site=head.site, layer=head.layer, head=head.head)

    def at_cell(self, trace: Trace) -> tuple[Self, tuple[str, ...]]:
        """The selection at the step of its cell, and the names of the fields left out.

        The cell is in the row of the step; if the selection names another step, the cell is left
        out. A cell of an encoder has a row of its own.
        """
        if self.cell is None or (self.site or trace.sites[-1]) == "encoder":
            return self, ()
        step = self.cell[0] + 1
        if self.step not in (None, step):
            return replace(self, cell=None, inside=None), ("cell",)
        return replace(self, step=step), ()

    def within(self, trace: Trace) -> tuple["Selection", tuple[str, ...]]:
        """The selection reduced to what `trace` has, and the names of the fields it lacks."""
        if self.site is not None and self.site not in trace.sites:
            return Selection(step=self.step), ("site",)
        layers, heads, queries, keys = trace.attention(self.site or trace.sites[-1]).shape
        limits: dict[str, Container[object]] = {
            "sites": trace.sites,
            "layers": range(layers),
            "heads": range(heads),
            "steps": shown_steps(trace),
            "cells": _Cells(queries, keys),
            "zooms": _Zooms(queries, keys),
        }
        missing = tuple(
            name
            for name, one in _SHOWN.items()
            if one.limit and (value := getattr(self, name)) is not None
            if value not in limits[one.limit]
        )
        return replace(self, **dict.fromkeys(missing)), missing

    def with_flags_of(self, other: "Selection") -> Self:
        """This selection with the flags of `other`; they do not depend on model or head."""
        flags = [name for name, one in _SHOWN.items() if one.kind is FLAG]
        return replace(self, **{name: getattr(other, name) for name in flags})

    def without_server(self) -> Self:
        """This selection without the fields that need a server."""
        served = [name for name, one in _SHOWN.items() if one.needs_server]
        return replace(self, **dict.fromkeys(served))


_SHOWN = declared(Selection)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a map."""

    queries: int
    keys: int

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, tuple) and cell[0] < self.queries and cell[1] < self.keys


@dataclass(frozen=True, slots=True)
class _Zooms:
    """The parts of a map."""

    queries: int
    keys: int

    def __contains__(self, zoom: object) -> bool:
        return isinstance(zoom, Zoom) and zoom.is_within(self.queries, self.keys)


def shown_steps(trace: Trace) -> range | set[int]:
    """The steps that can be looked at: those of the target or, without one, of the mask tokens."""
    if trace.target_tokens:
        return range(1, len(trace.target_tokens) + 1)
    return set(trace.arrays["steps.step"].tolist()) if "steps.step" in trace.arrays else set()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model of the library reads a text.

    source_language, target_language: codes of the model; "" = its own choice.
    chat: whether the text is a user's message; the model's template turns it into a prompt.
    """

    source_language: LanguageCode = asked(LANGUAGE, "")  # noqa: RUF009  (never changed)
    target_language: LanguageCode = asked(LANGUAGE, "")  # noqa: RUF009  (never changed)
    chat: bool = asked(FLAG, False)


@dataclass(frozen=True, slots=True)
class Request:
    """The trace of `text` by the model named `model`; all of it changes the trace.

    pad: padding tokens added to the source.
    forced: (step, token id) in the order of the steps; other tokens are decoded greedily.
    interventions: the changes in the model while it runs.
    pair: the second text, "" without one; None if the model reads no second text.
    reading: None if the model is not one of the library.
    """

    model: str = asked(NAME)
    text: str = asked(TEXT)
    pad: int = asked(number(MOST_PADDING), 0)
    forced: tuple[tuple[int, int], ...] = asked(FORCED, (), word="force", of_one_model=True)
    interventions: Interventions = asked(  # noqa: RUF009  (what it returns is never changed)
        INTERVENTIONS, NO_INTERVENTIONS, word="do", of_one_model=True
    )
    pair: str | None = asked(SECOND_TEXT, None)
    reading: Reading | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The options of `trace` that say what is read."""
        reading = self.reading or Reading()
        languages = {
            "source_language": reading.source_language or None,
            "target_language": reading.target_language or None,
        }
        if reading.chat:
            return {"messages": [{"role": "user", "content": self.text}], **languages}
        return {"text": self.text, "pair": self.pair or None, **languages}

    @property
    def is_changed(self) -> bool:
        """Whether the output may differ from that of `unchanged`."""
        return bool(self.forced or self.interventions)

    def unchanged(self) -> "Request":
        """The same text, decoded greedily by the model as it is."""
        return replace(self, forced=(), interventions=NO_INTERVENTIONS)

    def of_text(self, **read: Any) -> "Request":
        """Another text, decoded greedily; interventions on any text stay. read: fields that say
        what is read."""
        kept = self.interventions.on_any_text
        return replace(self, forced=(), interventions=kept, **read)


@dataclass(frozen=True, slots=True)
class MomentPair:
    """Two moments of a run, as an address names them: "recorded/reverse@50-1000".

    run: root and name, "runs/reverse-3". first, second: the steps of the moments.
    """

    run: str
    first: int
    second: int

    @classmethod
    def parse(cls, word: str) -> Self | None:
        """The pair that `str` wrote, or None if `word` is not one.

        Does not check that the run and its moments exist.
        """
        match = _MOMENT_PAIR.fullmatch(word)
        return cls(match[1], int(match[2]), int(match[3])) if match else None

    def __str__(self) -> str:
        return f"{self.run}@{self.first}-{self.second}"


@dataclass(frozen=True, slots=True)
class Look:
    """A visitor's state on the pages Explore and Heads; Explore shows request and selection.

    section: of the Heads page, "" = its first.
    compared: the other side of a comparison: the name of a model, a `MomentPair`, `OTHER_TEXT`,
        `CHANGES`, or "" = `OTHER_TEXT` unless there are changes.
    other_text: the text compared with, for `OTHER_TEXT`.
    ask: what the section is asked, as in `QUESTIONS`; "" = what it is asked at first.
    """

    request: Request
    selection: Selection = Selection()
    section: str = asked(choice(SECTIONS), "", word="part")
    compared: str = asked(NAME, "", word="with")
    other_text: str = asked(SECOND_TEXT, "")
    ask: str = asked(SECOND_TEXT, "")

    @property
    def is_asked(self) -> bool:
        """Whether the section can be asked `ask`; of comparisons, that of two texts can."""
        kind = QUESTIONS.get(self.section)
        fits = self.section != COMPARE or self.compared == OTHER_TEXT
        return kind is not None and fits and kind.read(self.ask) is not None


def to_query(look: Look) -> dict[str, str]:
    """The query that `from_query` reads back."""
    if look.ask and not look.is_asked:
        look = replace(look, ask="")
    if look.compared == OTHER_TEXT:
        look = replace(look, compared="")
    else:
        look = replace(look, other_text="")
    selection = look.selection
    if look.section != COMPARE:
        selection = replace(selection, other=None)
    if selection.cell is None:
        selection = replace(selection, inside=None)
    request = look.request
    query = words_of(request) | (words_of(request.reading) if request.reading else {})
    return query | words_of(look) | words_of(selection)


def moved(query: Mapping[str, str]) -> Mapping[str, str]:
    """The query with a section of an earlier version replaced, without what that was asked."""
    instead = MOVED_SECTIONS.get(query.get("part", ""))
    if instead is None:
        return query
    return {**{name: word for name, word in query.items() if name != "ask"}, **instead}


def from_query(
    query: Mapping[str, str], initial_requests: Mapping[str, Request]
) -> tuple[Look, tuple[str, ...]]:
    """The look in a query, and the names of the parameters that were refused; of a wrong
    drawing its line.

    A query is untrusted text: each parameter is looked up in a list or checked against a range. One
    that fails is left out and named, so that a page can report it.

    initial_requests: name of each listed model, the default one first → its initial request.
    """
    query = moved(query)
    initial = initial_requests.get(query.get("model", ""), next(iter(initial_requests.values())))
    # The tokens of an unknown model say nothing about the default one.
    known = query.get("model", initial.model) in initial_requests
    fits = {
        "model": known,
        "pair": initial.pair is not None,
        "with": _can_compare(query.get("with", ""), initial_requests),
        **dict.fromkeys(declared(Reading), initial.reading is not None),
    }
    refused: list[str] = []
    found: dict[type, dict[str, Any]] = {Request: {}, Reading: {}, Look: {}, Selection: {}}
    for record, values in found.items():
        for name, one in declared(record).items():
            if one.word not in query or (one.of_one_model and not known):
                continue
            value = one.kind.read(query[one.word]) if fits.get(one.word, True) else None
            if value is None:
                wrong = wrong_drawing(query[one.word]) if one.kind is INTERVENTIONS else ""
                refused.append(wrong or one.word)
            else:
                values[name] = value
    of_request, more = found[Request], found[Look]
    of_request["text"] = of_request.get("text") or initial.text
    if initial.reading is not None:
        of_request["reading"] = replace(initial.reading, **found[Reading])
    if more.get("other_text"):
        if "compared" in more:  # one of the two
            refused.append("with")
        more["compared"] = OTHER_TEXT
    request = replace(initial, **of_request)
    look = Look(request, Selection(**found[Selection]), **more)
    if look.ask and not look.is_asked:
        refused.append("ask")
        look = replace(look, ask="")
    return look, tuple(refused)


def _can_compare(name: str, initial_requests: Mapping[str, Request]) -> bool:
    return name in initial_requests or name == CHANGES or MomentPair.parse(name) is not None
