"""Runs of one text with parts of the values of another run put into them, several in one pass."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

from torch import Tensor

from explorer.core.sites import Head
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel
from explorer.model.points import NO_ACTIONS, NO_READERS, Actions, Point, Readers, kept
from explorer.model.threads import threads_for

Values: TypeAlias = Mapping[Point, Tensor]
"""The values of one run, (1, …) each."""

Measure: TypeAlias = Callable[[Tensor], float]
"""The metric of the logits (L,) of one run."""


def point_of(head: Head) -> Point:
    """The outputs of the heads of an attention, of which `head` is one."""
    return Point("heads", head.site, head.layer)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a value that is put into another run.

    where: its index in the value of one run: (head, positions), or of a residual stream
        (position,).
    """

    point: Point
    where: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run of a text: its batch of one sentence, the logits (L,) of its labelled row, and its
    values in the order in which they are computed."""

    batch: EvaluationBatch
    logits: Tensor
    values: Values


@dataclass(frozen=True, slots=True, eq=False)
class TwoRuns:
    """A clean and a corrupted run of one model.

    measure: the metric. most: runs of one pass.
    """

    model: MeasurableModel
    clean: Run
    corrupted: Run
    measure: Measure
    most: int

    def measured(self, actions: Actions, copies: int) -> list[float]:
        """The metric of `copies` corrupted runs, with `actions`."""
        logits = logits_of(self.model, self.corrupted.batch, actions, copies=copies)
        return [self.measure(row) for row in logits]


def run(model: MeasurableModel, batch: EvaluationBatch, points: Sequence[Point]) -> Run:
    """A run that captures the values at `points`."""
    readers, values = kept(points)
    (logits,) = logits_of(model, batch, readers=readers)
    return Run(batch, logits, {point: values[point] for point in points})


def patched_metrics(runs: TwoRuns, parts: Sequence[Part]) -> list[float]:
    """The metric of the corrupted run with one part of the clean run put into it, for each part."""
    found: list[float] = []
    for some in groups(parts, runs.most):
        actions = {
            point: partial(put, own, runs.clean.values[point])
            for point, own in by_point(some).items()
        }
        found += runs.measured(actions, len(some))
    return found


def logits_of(
    model: MeasurableModel,
    batch: EvaluationBatch,
    actions: Actions = NO_ACTIONS,
    readers: Readers = NO_READERS,
    copies: int = 1,
) -> Tensor:
    """Logits (R, L) of one pass over `copies` copies of a batch."""
    with threads_for(model.passes.parameters, copies * batch.longest):
        return model.passes.labelled_logits(batch, actions, readers, copies)


def groups(parts: Sequence[Part], most: int) -> Iterator[list[Part]]:
    """The parts in their order, at most `most` for each pass.

    Those of an encoder come first and never share a pass with others, for which the encoder runs
    only once.
    """
    for _, of_stack in groupby(parts, lambda part: part.point.site == "encoder"):
        listed = list(of_stack)
        for start in range(0, len(listed), most):
            yield listed[start : start + most]


Places: TypeAlias = list[tuple[int, tuple[Any, ...]]]
"""Numbers of runs, each with the index of its part."""


def by_point(parts: Sequence[Part]) -> dict[Point, Places]:
    """The parts of each value; the runs are in the order of the parts."""
    found: dict[Point, Places] = {}
    for row, part in enumerate(parts):
        found.setdefault(part.point, []).append((row, part.where))
    return found


def put(places: Places, source: Tensor, value: Tensor) -> Tensor:
    """`value` (R, …) with parts of `source` (1, …)."""
    changed = value.clone()
    for row, where in places:
        changed[row][where] = source[0][where]
    return changed
