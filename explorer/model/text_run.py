"""`model.run`: one pass over a text with some values changed and some read, for any model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import PointError
from explorer.core.interventions import stated
from explorer.core.trace import Trace
from explorer.model.measurable import BatchPasses, MeasurableModel
from explorer.model.points import KINDS, NO_ACTIONS, Action, Actions, Point, chained, kept
from explorer.model.threads import threads_for


@dataclass(frozen=True, slots=True, eq=False)
class TextRun:
    """One pass over a text.

    trace: the text, whose tokens the pass has. logits: (T, V) after each token of the target, or
        after each token of the text in a model that decodes nothing; (1, C) of a classifier.
    values: point → the value that was read, with a first axis of 1; see `points`.
    """

    trace: Trace
    logits: Tensor
    values: Mapping[Point, Tensor]

    def __repr__(self) -> str:
        return f"TextRun({self.trace.text!r}: {len(self.logits)} rows, {len(self.values)} values)"


@torch.inference_mode()
def run(
    model: MeasurableModel,
    text: str | Trace,
    actions: Actions = NO_ACTIONS,
    read: Iterable[Point] = (),
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
    actions: point → a function from its value, with a first axis of 1, to the one with which the
        pass goes on, of the same shape.
    read: points whose values, after the actions, the result has.

    A `Point` is (kind, site, layer); `model.points(kind)` lists those of a model, `points` the
    kinds and their shapes. Gradients are off.

    Raises what `trace` does, and `PointError` on a point that the model lacks or cannot change,
    and on an action that returns another shape.
    """
    listed = [_point(model.passes, point, model.passes.read_kinds) for point in read]
    checked = {
        _point(model.passes, point, model.passes.changed_kinds): partial(_same_shape, point, action)
        for point, action in actions.items()
    }
    trace = text if isinstance(text, Trace) else model.trace(text, **options)
    changed = model.passes.changed_by(stated(trace.facts), options.get("means"))
    readers, values = kept(listed)
    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    with threads_for(model.passes.parameters, tokens):
        logits = model.rerun(trace, chained(changed, checked), readers)
        return TextRun(trace, logits.whole()[0], values)


def points(model: MeasurableModel, kind: str) -> tuple[Point, ...]:
    """The values of a kind that a pass computes, in this order. R is 1 in `run`; H are heads, Q
    queries and K keys.

    >>> explorer.load("checkpoints/reverse.safetensors").points("residual")[-1]
    Point(kind='residual', site='decoder', layer=1)

    kind: "mask" (R, 1 or H, Q, K) bool, True = may attend; a query without any key reads 0.
        "scores" (R, H, Q, K), before the mask. "pattern" (R, H, Q, K), after softmax.
        "query_vectors", "key_vectors" and "values" (R, H, Q or K, width). "heads"
        (R, H, Q, width), the outputs of the heads before W_O. "residual" (R, Q, D), after a layer.
        "token_vectors" (R, Q, D), scaled, without positions. "position_vectors" (Q, D). A model of
        the library has the last two of a decoder at most.

    Raises `PointError` on another kind, and `ConfigError` for a family of the library whose
    residual stream is not found.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise PointError("no_kind", kind=kind, kinds=", ".join(KINDS))
    return model.passes.points(kind)


def _point(passes: BatchPasses, given: object, kinds: tuple[str, ...]) -> Point:
    """`given` as a point of one of `kinds`. Raises `PointError`."""
    if not isinstance(given, tuple) or len(given) not in (2, 3) or given[0] not in KINDS:
        raise PointError("no_point", point=given, kinds=", ".join(KINDS))
    point = Point(*given)
    if point.kind not in kinds:
        raise PointError("other_kind", kind=point.kind, kinds=", ".join(kinds))
    known = passes.points(point.kind)
    if point not in known:
        places = ", ".join(f"{one.site}.{one.layer}" for one in known)
        raise PointError("no_place", place=f"{point.site}.{point.layer}", places=places)
    return point


def _same_shape(point: Point, action: Action, value: Tensor) -> Tensor:
    changed = action(value)
    if not isinstance(changed, Tensor) or changed.shape != value.shape:
        got = tuple(changed.shape) if isinstance(changed, Tensor) else type(changed).__name__
        raise PointError("other_shape", point=tuple(point), shape=tuple(value.shape), got=got)
    return changed
