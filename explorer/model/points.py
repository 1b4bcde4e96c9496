"""The values of a pass by name, and the actions that change them: the same for models trained here
and for those of the library. `run(…, actions, readers, copies)` makes one pass that changes some
values and reads others.

A `Point` names a value. An action maps it to the value with which the pass goes on; a reader sees
that one, and must not change it. Their shapes are in the docstring of `text_run.points`; R are the
rows of the batch, its N sequences times the copies.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from torch import Tensor

ATTENTION_KINDS = (
    "mask",
    "scores",
    "pattern",
    "query_vectors",
    "key_vectors",
    "values",
    "heads",
)
STACK_KINDS = ("token_vectors", "position_vectors")
KINDS = (*ATTENTION_KINDS, "residual", *STACK_KINDS)

Action: TypeAlias = Callable[[Tensor], Tensor]
Reader: TypeAlias = Callable[[Tensor], object]


class Point(NamedTuple):
    """A value that a pass computes.

    kind: one of `KINDS`. site: of an attention its path, "encoder", "decoder" or "cross"; of a
    residual stream or an embedding its stack. layer: from 0 among those that have the value; 0 for
    an embedding.
    """

    kind: str
    site: str
    layer: int = 0


Actions: TypeAlias = Mapping[Point, Action]
Readers: TypeAlias = Mapping[Point, Reader]

NO_ACTIONS: Actions = MappingProxyType({})
NO_READERS: Readers = MappingProxyType({})

_first_query: ContextVar[int] = ContextVar("first_query", default=0)


def chained(*several: Actions) -> dict[Point, Action]:
    """Several actions on one point, from left to right."""
    found: dict[Point, Action] = {}
    for actions in several:
        for point, action in actions.items():
            found[point] = partial(_both, found[point], action) if point in found else action
    return found


def _both(first: Action, then: Action, value: Tensor) -> Tensor:
    return then(first(value))


def seen(reader: Reader) -> Action:
    """The action that hands the value to `reader` and leaves it as it is."""

    def see(value: Tensor) -> Tensor:
        reader(value)
        return value

    return see


def kept(points: Iterable[Point]) -> tuple[Readers, dict[Point, Tensor]]:
    """Readers that keep the values at `points` as they are, and where they keep them."""
    values: dict[Point, Tensor] = {}
    return {point: partial(_keep, values, point) for point in points}, values


def _keep(values: dict[Point, Tensor], point: Point, value: Tensor) -> None:
    values[point] = value


def changes_encoder(actions: Actions) -> bool:
    """Whether the encoder runs on all copies: otherwise it runs on one, which all share."""
    return any(point.site == "encoder" for point in actions)


def first_query() -> int:
    """The first query of the target that the current pass computes: above 0 step by step."""
    return _first_query.get()


@contextmanager
def from_query(first: int) -> Iterator[None]:
    """A block in which the decoder computes queries from `first` on."""
    token = _first_query.set(first)
    try:
        yield
    finally:
        _first_query.reset(token)
