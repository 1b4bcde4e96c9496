"""The trainings that a class shares: their curves as a chart for Plotly, and which heads formed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from explorer.core.i18n import say
from explorer.data.task_names import CONTINUED_TASKS, TASK_NAMES, task_label

_FORMED = 0.5
"""Gold weight from which a head has formed."""

_COLOURS = ("#3f7fca", "#9566bf", "#1f8f70", "#c4517c")
"""By task; readable on white and on a dark page."""

_MASTERED = 0.99
_HEIGHT = 300  # px
_MARGIN = {"l": 64, "r": 20, "t": 12, "b": 48}  # px
_MARK = {"type": "line", "line": {"color": "#7d838c", "width": 1, "dash": "dot"}}


@dataclass(frozen=True, slots=True)
class Curve:
    """A training in a guest's browser, as far as it has come.

    points: steps and the exact match at them.
    gold: gold weight of each head at the last one, by layer and head.
    finished: whether it has come to its last step, or to the exact match at which it ends.
    """

    task: str
    causal: bool
    seed: int
    points: tuple[tuple[int, float], ...]
    gold: tuple[tuple[float, ...], ...]
    finished: bool

    @property
    def weights(self) -> dict[tuple[int, int], float]:
        """The gold weights by layer and head."""
        return {
            (layer, head): weight
            for layer, row in enumerate(self.gold)
            for head, weight in enumerate(row)
        }

    @property
    def sharpest(self) -> tuple[int, int] | None:
        """Layer and head of the largest gold weight; None while no head has formed."""
        weights = self.weights
        best = max(weights, key=weights.__getitem__)
        return best if weights[best] >= _FORMED else None


@dataclass(frozen=True, slots=True)
class Group:
    """The curves of one task, with or without the causal mask."""

    task: str
    causal: bool
    curves: Sequence[Curve]

    @property
    def site(self) -> str:
        """Name of the attention that has the gold weights."""
        return "decoder" if self.task in CONTINUED_TASKS else "cross"

    def name(self, language: str) -> str:
        task = task_label(self.task, language)
        return task if self.causal else f"{task} · {say('run_settings.causal_off', language)}"

    @property
    def finished(self) -> Sequence[Curve]:
        return [curve for curve in self.curves if curve.finished]

    def formed(self) -> Counter[tuple[int, int] | None]:
        """How often each head is the sharpest one at the end; None: no head has formed. A training
        that goes on or was stopped may still form one, and is not counted."""
        return Counter(curve.sharpest for curve in self.finished)


def grouped(curves: Iterable[Curve]) -> list[Group]:
    """In the order of their tasks, those with the mask first."""
    ordered = sorted(curves, key=_kind)
    return [
        Group(task, not unmasked, list(own)) for (task, unmasked), own in groupby(ordered, _kind)
    ]


def heads_of(curves: Iterable[Curve]) -> list[tuple[int, int]]:
    """Layer and head of all heads that any of the curves knows."""
    return sorted({head for curve in curves for head in curve.weights})


def class_chart(groups: Sequence[Group], language: str) -> dict[str, Any]:
    """Data and layout for Plotly: a line a training, a colour a task, dots without the mask."""
    axis = {"fixedrange": True, "zeroline": False, "showspikes": False}
    layout = {
        "height": _HEIGHT,
        "margin": _MARGIN,
        "showlegend": True,
        "hovermode": "closest",
        "dragmode": False,
        "shapes": [{**_MARK, "xref": "paper", "x0": 0, "x1": 1, "y0": _MASTERED, "y1": _MASTERED}],
        "xaxis": {
            "title": {"text": say("training_replay.step_axis", language), "standoff": 8},
            "rangemode": "tozero",
            "showgrid": False,
            **axis,
        },
        "yaxis": {
            "title": {"text": say("training_replay.exact", language)},
            "range": [0, 1.03],
            "tickvals": [0, 0.5, _MASTERED],
            "ticktext": ["0 %", "50 %", "99 %"],
            **axis,
        },
    }
    return {
        "data": [line for group in groups for line in _lines(group, language)],
        "layout": layout,
    }


def _kind(curve: Curve) -> tuple[str, bool]:
    return curve.task, not curve.causal


def _lines(group: Group, language: str) -> Iterator[dict[str, Any]]:
    """The first one stands for all in the legend."""
    colour = _COLOURS[TASK_NAMES.index(group.task) % len(_COLOURS)]
    name, count = group.name(language), len(group.curves)
    step = say("training_replay.step_axis", language)
    for number, curve in enumerate(group.curves):
        seed = say("train.fact_seed", language, value=curve.seed)
        yield {
            "type": "scatter",
            "mode": "lines+markers",
            "name": say("train.class_group", language, name=name, count=count),
            "showlegend": number == 0,
            "x": [step for step, _ in curve.points],
            "y": [exact for _, exact in curve.points],
            "opacity": 0.75,
            "line": {
                "color": colour,
                "width": 1.3,
                "dash": "solid" if group.causal else "dot",
            },
            "marker": {"size": 3},
            "hovertemplate": f"{name} · {seed}<br>{step} %{{x}}: %{{y:.1%}}<extra></extra>",
        }
