"""What a page asks a model for, and where in the answer a visitor looks."""

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.trace import Trace

INSIDE_VIEWS = ("before", "score", "after", "depth", "without")
"""What *Inside* shows in place of the calculation of a cell."""

SHOWN_MAPS = (
    "alti",
    "value_norm",
    "value_norm_residual",
    "alti_plus",
    "rollout",
    "leave_one_out",
)
"""What the large map shows in place of the weights of a head: contributions, by method."""

NEXT_VIEWS = ("heads",)
"""What stands beside the map in place of the probabilities of the next token."""

MOST_PADDING = 16
MOST_FORCED = 64
MOST_INTERVENTIONS = 24
NO_INTERVENTIONS = Interventions()


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a trace on screen; None = the component's default. Steps count from 1.

    alignment: the row from which the shown links are read, one of `TIMINGS`; None = no links.
    guess: True where what comes next is hidden until it is guessed.
    ahead: whether rows not yet decoded are shown.
    cell: (query, key) of the cell whose arithmetic is shown; None = none.
    inside: one of `INSIDE_VIEWS`, shown of that cell; None = its arithmetic.
    shows: one of `SHOWN_MAPS`, shown of the layer; None = weights.
    other: (layer, head) of the second side that this head is compared with; None = the one that
        the comparison opens with.
    next: one of `NEXT_VIEWS`; None = probabilities.
    words: True where pieces are merged into words; steps are those of the pieces all the same.
    """

    site: str | None = None
    layer: int | None = None
    head: int | None = None
    step: int | None = None
    alignment: str | None = None
    guess: bool | None = None
    ahead: bool | None = None
    cell: tuple[int, int] | None = None
    inside: str | None = None
    shows: str | None = None
    other: tuple[int, int] | None = None
    next: str | None = None
    words: bool | None = None

    @property
    def named_head(self) -> Head | None:
        """The head on screen; None where no single one is named."""
        if self.site is None or self.layer is None or self.head is None:
            return None
        return Head(self.site, self.layer, self.head)

    def or_head(self, head: Head | None) -> "Selection":
        """This selection, or the same step of `head` where it names no site, layer or head."""
        if head is None or (self.site, self.layer, self.head) != (None, None, None):
            return self
        return replace(self, site=head.site, layer=head.layer, head=head.head)

    def at_cell(self, trace: Trace) -> tuple["Selection", tuple[str, ...]]:
        """The selection at the step of its cell, which is in the row of that step; without the
        cell, then named, where it names another step. A cell of an encoder has a row of its own.
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
        limits = {
            "layer": range(layers),
            "head": range(heads),
            "step": _steps(trace),
            "cell": _Cells(queries, keys),
        }
        missing = tuple(
            name
            for name, limit in limits.items()
            if (value := getattr(self, name)) is not None and value not in limit
        )
        return replace(self, **dict.fromkeys(missing)), missing


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a map."""

    queries: int
    keys: int

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, tuple) and cell[0] < self.queries and cell[1] < self.keys


def _steps(trace: Trace) -> Container[int]:
    """The steps that can be looked at: those of the target or, without one, of the mask tokens."""
    if trace.target_tokens:
        return range(1, len(trace.target_tokens) + 1)
    return set(trace.arrays["steps.step"].tolist()) if "steps.step" in trace.arrays else ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model of the library reads a text.

    source_language, target_language: codes of the model; "" = its own choice.
    chat: whether the text is a user's message, which the model's template makes a prompt of.
    """

    source_language: str = ""
    target_language: str = ""
    chat: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """The trace of `text` by the model named `model`.

    pad: padding tokens added to the source.
    forced: (step, token id) in the order of the steps; other tokens are decoded greedily.
    pair: the second text, "" without one; None where the model reads none.
    reading: None where the model is none of the library.
    """

    model: str
    text: str
    pad: int = 0
    forced: tuple[tuple[int, int], ...] = ()
    pair: str | None = None
    reading: Reading | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What the model is given, as options of `trace`."""
        reading = self.reading or Reading()
        languages = {
            "source_language": reading.source_language or None,
            "target_language": reading.target_language or None,
        }
        if reading.chat:
            return {"messages": [{"role": "user", "content": self.text}], **languages}
        return {"text": self.text, "pair": self.pair or None, **languages}

    def without_forced(self) -> "Request":
        """The same request, decoded greedily throughout."""
        return replace(self, forced=())


@dataclass(frozen=True, slots=True)
class Visit:
    """Where a visitor is on Explore and Heads; Explore ignores the interventions."""

    request: Request
    selection: Selection = Selection()
    interventions: Interventions = NO_INTERVENTIONS
