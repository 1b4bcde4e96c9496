"""Which parts of the values of a run are patched, one after another, and their names."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

from explorer.core.errors import ConfigError
from explorer.core.sites import Head
from explorer.heads.patching.patched_runs import Part, Run, TwoRuns, point_of
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel


def positions_of(given: Iterable[int] | None, longest: int) -> list[int] | None:
    """The positions in ascending order, None = all. Raises `ConfigError` on one that no stack
    has."""
    if given is None:
        return None
    listed = list(given) if isinstance(given, Iterable) else [given]
    for one in listed:
        whole = isinstance(one, SupportsIndex) and not isinstance(one, bool)
        if not whole or not 0 <= operator.index(one) < longest:
            raise ConfigError("patch_position", got=repr(one), last=longest - 1)
    if not listed:
        raise ConfigError("patch_position", got=repr(given), last=longest - 1)
    return sorted({operator.index(one) for one in listed})


def _within(places: list[int] | None, count: int) -> list[int]:
    """Those of the positions that a stack of `count` tokens has."""
    return [one for one in range(count) if places is None or one in places]


def head_parts(
    corrupted: Run, heads: Sequence[Head], places: list[int] | None
) -> tuple[list[Head], list[Part]]:
    """The heads whose stack has any of the positions, and their outputs there."""
    names, parts = list[Head](), list[Part]()
    for head in heads:
        point = point_of(head)
        own = _within(places, corrupted.values[point].size(2))
        if own:
            names.append(head)
            parts.append(Part(point, (head.head, own)))
    return names, parts


def residual_parts(
    runs: TwoRuns, places: list[int] | None
) -> tuple[list[tuple[Any, ...]], list[Part]]:
    """Stack, layer, position and both tokens of each residual stream at one position, and where it
    is."""
    names, parts = list[tuple[Any, ...]](), list[Part]()
    both = runs.clean, runs.corrupted
    for point, value in runs.corrupted.values.items():
        tokens = [_labels(runs.model, each.batch, point.site) for each in both]
        for place in _within(places, value.size(1)):
            names.append((*point[1:], place, *(own[place] for own in tokens)))
            parts.append(Part(point, (place,)))
    return names, parts


def _labels(model: MeasurableModel, batch: EvaluationBatch, stack: str) -> Sequence[str]:
    """The labels of the tokens that a stack reads."""
    rows = batch.source if stack == "encoder" else batch.queries
    assert rows is not None
    return model.passes.labels(rows.ids[0].tolist(), "source" if stack == "encoder" else "target")
