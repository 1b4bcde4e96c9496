"""The named functions by which a lesson asks a training for a word or a number, as
`lesson_answers` do of a trace. They read one moment: its measured numbers and its probe.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.core.errors import LessonError, TraceError
from explorer.core.i18n import say
from explorer.core.lesson_answers import ANSWERS, Place, needs_capture
from explorer.core.lesson_answers import answer as answer_of_trace
from explorer.core.number_format import percent, short_number
from explorer.core.trace import Trace


@dataclass(frozen=True, slots=True)
class RunMoment:
    """A moment of a training.

    numbers: the line of its metrics.
    probe: the trace at this moment. end: that of the last moment.
    """

    numbers: Mapping[str, Any]
    probe: Trace
    end: Trace


def answer(name: str, moment: RunMoment, place: Place, language: str) -> str:
    """Answer of the function called `name` for a place of the probe.

    Raises `LessonError` if the moment lacks what the function needs.
    """
    if name not in _OF_RUNS:
        return answer_of_trace(name, moment.probe, place, language)
    try:
        return _OF_RUNS[name](moment, place, language)
    except (TraceError, KeyError, IndexError, TypeError, ValueError) as error:
        raise LessonError("no_answer", answer=name) from error


_LINES = {"behind": -1, "diagonal": 0, "ahead": 1}
"""By name, how far right of the diagonal of a map."""


def _picture(moment: RunMoment, place: Place, language: str) -> str:
    """Where the line is that the head has formed at the end of the training."""
    weights = moment.end.attention(place.site)[place.layer, place.head]
    largest = max(_LINES, key=lambda line: float(np.diagonal(weights, _LINES[line]).mean()))
    return say(f"lessons.picture_{largest}", language)


_OF_RUNS: Mapping[str, Callable[[RunMoment, Place, str], str]] = {
    "picture": _picture,
    "moment": lambda moment, place, _: str(moment.numbers["step"]),
    "loss": lambda moment, place, _: short_number(moment.numbers["held_out_loss"]),
    "right outputs": lambda moment, place, _: percent(moment.numbers["exact_match"]),
}

RUN_ANSWERS: tuple[str, ...] = (
    *(name for name in ANSWERS if not needs_capture(name)),
    *_OF_RUNS,
)
"""The names that a card of the page Train can use: the probe of a moment has weights alone."""
