"""Path patching: what one head changes in the output by way of another head alone.

Two passes for several senders at once. In the first one the sender has its clean output, and every
other head before the receiver keeps its corrupted one: what reaches the receiver goes along the
residual stream and the feed-forward networks alone. In the second one, the receiver has the output
that it had there, and all after it follows. Source: Wang et al. 2022, arXiv 2211.00593.
"""

from collections.abc import Sequence
from functools import partial

from torch import Tensor

from explorer.core.sites import Head
from explorer.heads.patching.patched_runs import (
    Part,
    Places,
    Run,
    TwoRuns,
    by_point,
    groups,
    logits_of,
    point_of,
    put,
)
from explorer.model.points import Action, Point, kept


def path_metrics(runs: TwoRuns, senders: Sequence[Part], receiver: Head) -> list[float]:
    """The metric of the corrupted run with the path from each sender to `receiver` patched.

    senders: all computed before the receiver.
    """
    point, found = point_of(receiver), list[float]()
    for some in groups(senders, runs.most):
        readers, received = kept([point])
        frozen = _frozen(runs, some, point)
        logits_of(runs.model, runs.corrupted.batch, frozen, readers, len(some))
        given = {point: partial(_give_head, received[point], receiver.head)}
        found += runs.measured(given, len(some))
    return found


def before(run: Run, receiver: Head) -> list[Point]:
    """The outputs of heads that are computed before that of the receiver."""
    points = list(run.values)
    return points[: points.index(point_of(receiver))]


def _frozen(runs: TwoRuns, senders: Sequence[Part], receiver: Point) -> dict[Point, Action]:
    """The actions on all heads from the first sender to the receiver: those before it are as
    corrupted anyway."""
    points, own = list(runs.corrupted.values), by_point(senders)
    first = min(points.index(point) for point in own)
    return {
        point: partial(_freeze, runs, point, own.get(point, []))
        for point in points[first : points.index(receiver)]
    }


def _freeze(runs: TwoRuns, point: Point, senders: Places, value: Tensor) -> Tensor:
    """The corrupted value in all runs, but for the senders' clean outputs."""
    corrupted = runs.corrupted.values[point].expand_as(value)
    return put(senders, runs.clean.values[point], corrupted)


def _give_head(received: Tensor, head: int, value: Tensor) -> Tensor:
    """`value` (R, H, Q, width) with the output of one head that was `received`, of equal shape."""
    changed = value.clone()
    changed[:, head] = received[:, head]
    return changed
