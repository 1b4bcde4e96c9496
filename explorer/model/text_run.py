"""`model.run`: one pass over a text with some values changed and some read, for any model."""

from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import PointError
from explorer.core.interventions import stated
from explorer.core.trace import Trace
from explorer.model.actions import MeanOutputs
from explorer.model.measurable import BatchPasses, MeasurableModel
from explorer.model.points import KINDS, NO_ACTIONS, Action, Actions, Point, chained, kept
from explorer.model.threads import threads_for


@dataclass(frozen=True, slots=True, eq=False)
class TextRun:
    """One pass over a text.

    trace: the text, whose tokens the pass has. logits: (T, V) after each token of the target, or
        after each token of the text in a model that decodes nothing; (1, C) of a classifier.
    values: point → the value that was read; shapes as in `points`, with R = 1.
    """

    trace: Trace
    logits: Tensor
    values: Mapping[Point, Tensor]

    def __repr__(self) -> str:
        return f"TextRun({self.trace.text!r}: {len(self.logits)} rows, {len(self.values)} values)"


@torch.no_grad()
def run(
    model: MeasurableModel,
    text: str | Trace,
    actions: Actions = NO_ACTIONS,
    read: Iterable[Point] = (),
    *,
    means: MeanOutputs | None = None,
    **options: Any,
) -> TextRun:
    """One pass over the tokens of `text`, in which `actions` change values and others are read.

    >>> model = explorer.load("checkpoints/reverse.safetensors")
    >>> last = model.points("pattern")[-1]
    >>> found = model.run("7 3 9", {last: lambda pattern: pattern.flip(-1)}, read=[last])
    >>> found.values[last].shape
    torch.Size([1, 4, 4, 4])

    text: or a trace of this model. The model first traces a text, with `options` of `trace`; the
        pass has the tokens of the trace and its interventions, and decodes nothing.
    actions: point → a function from a copy of its value to the value with which the pass goes on,
        of the same shape and dtype. A mask has a row of cells for every head.
    read: points whose values, after the actions, the result has.
    means: as in `trace`, of its interventions.

    A `Point` is (kind, site, layer); `model.points(kind)` lists those of a model, and
    `help(model.points)` the kinds and shapes; R is 1. Nothing has gradients.

    Raises what `trace` does, and `PointError` on a point that the model lacks or cannot change, on
    an action that returns another shape or dtype, and on a trace of another model.
    """
    passes = model.passes
    listed = [_point(passes, point, passes.read_kinds, "not_read") for point in _listed(read)]
    checked: dict[Point, Action] = {}
    for given, action in _mapping(actions).items():
        point = _point(passes, given, passes.changed_kinds, "not_changed")
        checked[point] = partial(_acted, action, point, _heads(passes, point))
    trace = _trace(model, text, means, options)
    changed = passes.changed_by(stated(trace.facts), means)
    readers, values = kept(listed)
    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    with threads_for(passes.parameters, tokens):
        logits = model.rerun(trace, chained(changed, checked), readers)
        # Copies, because a value may be a tensor of the model, such as its table of positions.
        copies = {point: value.clone() for point, value in values.items()}
        return TextRun(trace, logits.whole()[0], copies)


def points(model: MeasurableModel, kind: str) -> tuple[Point, ...]:
    """The values of a kind that a pass computes, in the order of the pass.

    >>> explorer.load("checkpoints/reverse.safetensors").points("residual")[-1]
    Point(kind='residual', site='decoder', layer=1)

    kind, with R sequences, H heads, Q queries and K keys:

    mask: (R, 1 or H, Q, K) bool, True = may attend; a query without any key reads 0.
    scores: (R, H, Q, K), before the mask. pattern: (R, H, Q, K), after softmax.
    query_vectors, key_vectors, values: (R, H, Q or K, width), as the scores multiply them.
    heads: (R, H, Q, width), the outputs of the heads before W_O.
    residual: (R, Q, D), the residual stream after a layer.
    token_vectors: (R, Q, D), without positions. position_vectors: (Q, D).

    Layers count from 0 among those that have the value. A model of the library has scores, vectors
    and values to read alone, `token_vectors` of a decoder, and no `position_vectors`.

    Raises `PointError` on another kind, and `ConfigError` for a family of the library whose
    residual stream is not found.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise PointError("no_kind", kind=kind, kinds=", ".join(KINDS))
    return model.passes.points(kind)


def _trace(
    model: MeasurableModel, text: str | Trace, means: MeanOutputs | None, options: dict[str, Any]
) -> Trace:
    """The trace of a text, or the given one of this model."""
    if not isinstance(text, Trace):
        return model.trace(text, means=means, **options)
    if options:
        raise PointError("options_of_trace", names=", ".join(options))
    if text.facts.get("model") != model.name or "text" not in text.facts:
        raise PointError("other_model", name=model.name, got=text.facts.get("model"))
    return text


def _listed(read: Iterable[Point]) -> list[Point]:
    if isinstance(read, Point | str) or not isinstance(read, Iterable):
        raise PointError("not_points", got=type(read).__name__)
    return list(read)


def _mapping(actions: Actions) -> Actions:
    if not isinstance(actions, Mapping) or not all(map(callable, actions.values())):
        raise PointError("not_actions", got=type(actions).__name__)
    return actions


def _point(passes: BatchPasses, given: object, kinds: Sequence[str], refused: str) -> Point:
    """`given` as a point of one of `kinds`; refused: key of the sentence on other kinds."""
    if (
        not isinstance(given, tuple)
        or len(given) not in (2, 3)
        or given[0] not in KINDS
        or not (len(given) == 2 or type(given[2]) is int)
    ):
        raise PointError("no_point", point=given, kinds=", ".join(KINDS))
    point = Point(*given)
    if point.kind not in kinds:
        raise PointError(refused, kind=point.kind, kinds=", ".join(kinds))
    known = passes.points(point.kind)
    if point not in known:
        places = ", ".join(f"{other.site}.{other.layer}" for other in known)
        raise PointError("no_place", place=f"{point.site}.{point.layer}", places=places)
    return point


def _heads(passes: BatchPasses, point: Point) -> int:
    """The number of heads of an attention."""
    return sum(head[:2] == point[1:] for head in passes.heads)


def _acted(action: Action, point: Point, heads: int, value: Tensor) -> Tensor:
    """What `action` makes of a copy of `value`: in place, it might change what other layers share.

    It runs in a context of its own, so that a pass inside it has none of the actions outside.
    """
    given = value.expand(-1, heads, -1, -1) if point.kind == "mask" else value
    changed = Context().run(action, given.clone())
    if isinstance(changed, Tensor) and (changed.shape, changed.dtype) == (given.shape, given.dtype):
        return changed
    expected, got = (
        f"{tuple(one.shape)} {one.dtype}" if isinstance(one, Tensor) else type(one).__name__
        for one in (given, changed)
    )
    raise PointError("other_value", point=tuple(point), expected=expected, got=got)
