"""Record and change what the attention of a model of the library computes.

The library looks its attention up by name. `CAPTURE` names a function that calls the family's own
explicit attention, so scaling, relative biases, soft caps, attention sinks and shared keys are the
family's. The function passes inputs and outputs to the current `Watch`. That is stored in a context
variable: threads that share one model never see each other's values.

    with watching(edits) as watch:
        model(…)
    watch.calls[0].weights
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

CAPTURE = "attention_explorer"
"""The name under which the library finds the function."""


@dataclass(slots=True, eq=False)
class Call:
    """One call of attention. H heads of queries; keys and values may have fewer.

    If the library returned the weights alone, queries, keys, values and output have width 0, and
    `module` is None.

    weights: (B, H, Q, K) after softmax, before dropout, which is off.
    mask: (B, 1 or H, Q, K), added to the scores or boolean, or None; includes edited cells.
    given: the mask before the edits.
    query, key, value: (B, heads, Q or K, width).
    output: (B, Q, H, width), before the output projection.
    options: further arguments, such as the scaling.
    """

    module: Any
    weights: Tensor
    mask: Tensor | None
    given: Tensor | None
    query: Tensor
    key: Tensor
    value: Tensor
    output: Tensor
    options: Mapping[str, Any]

    def of(self, sequence: int) -> "Call":
        """The same call of one sequence of the batch alone, B = 1."""
        count = len(self.weights)
        if count == 1:
            return self

        def own(value: Any) -> Any:
            by_sequence = isinstance(value, Tensor) and value.ndim == 4 and len(value) == count
            return value[sequence : sequence + 1] if by_sequence else value

        parts = {one.name: own(getattr(self, one.name)) for one in fields(self)}
        parts["options"] = {name: own(option) for name, option in self.options.items()}
        return Call(**parts)

    def on_cpu(self) -> "Call":
        """The same call with its tensors on the CPU, where traces are made."""
        if self.weights.device.type == "cpu":
            return self
        own = {one.name: _on_cpu(getattr(self, one.name)) for one in fields(self)}
        own["options"] = {name: _on_cpu(option) for name, option in self.options.items()}
        return Call(**own)


def _on_cpu(value: Any) -> Any:
    return value.cpu() if isinstance(value, Tensor) else value


@dataclass(slots=True)
class Edit:
    """Changes of one call; None = unchanged.

    mask: (mask or None, query, key) → mask.
    weights: (weights, mask) → weights; the output is then recomputed from them.
    output: (B, Q, H, width) → the same shape.
    """

    mask: Callable[[Tensor | None, Tensor, Tensor], Tensor] | None = None
    weights: Callable[[Tensor, Tensor | None], Tensor] | None = None
    output: Callable[[Tensor], Tensor] | None = None


Seen = Callable[[int, Call], None]
"""Callback for each call of attention in a pass: (index in the pass, call)."""


@dataclass(slots=True, eq=False)
class Watch:
    """The calls of the current pass, and the edits by the index of the call in it."""

    edits: Mapping[int, Edit]
    record: bool
    seen: Seen | None = None
    calls: list[Call] = field(default_factory=list)
    count: int = 0

    def take(self, index: int, call: Call) -> None:
        """Pass a call and its index in the pass to `seen`, and record it if `record`."""
        if self.seen:
            self.seen(index, call)
        if self.record:
            self.calls.append(call)


_NO_EDITS: Mapping[int, Edit] = MappingProxyType({})
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(
    edits: Mapping[int, Edit] = _NO_EDITS, *, record: bool = True, seen: Seen | None = None
) -> Iterator[Watch]:
    """Watch one pass of a model in this thread.

    record: keep all calls with their weights; False = only apply the edits.
    seen: called with each call as soon as it is computed.
    """
    watch = Watch(edits, record, seen)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


@cache
def register() -> None:
    """Register `CAPTURE` with the library, once; without its own mask function it gets no mask."""
    AttentionInterface.register(CAPTURE, _attention)
    AttentionMaskInterface.register(CAPTURE, _mask)


def scores(call: Call) -> Tensor:
    """Scores before the mask, (B, H, Q, K), recomputed from queries and keys in the order that all
    families share: scaling, soft cap, position bias."""
    found = call.query @ keys(call).transpose(2, 3) * score_scale(call)
    softcap = call.options.get("softcap")
    if softcap is not None:
        found = torch.tanh(found / softcap) * softcap
    bias = call.options.get("position_bias")
    return found if bias is None else found + bias


def score_scale(call: Call) -> float:
    """Factor of the products of queries and keys."""
    scaling = call.options.get("scaling")
    return float(call.query.size(-1) ** -0.5 if scaling is None else scaling)


def recomputed(call: Call) -> tuple[Tensor, Tensor | None]:
    """Weights (B, H, Q, K), and the weight of the sink (B, H, Q), None without sinks."""
    masked = scores(call)
    if call.mask is not None:
        masked = masked + call.mask
    sinks = _sinks(call)
    if sinks is None:
        return masked.softmax(-1, dtype=torch.float32), None
    column = sinks.view(1, -1, 1, 1).expand(*masked.shape[:-1], 1)
    weights = torch.cat([masked, column.to(masked)], -1).softmax(-1, dtype=torch.float32)
    return weights[..., :-1], weights[..., -1]


def keys(call: Call) -> Tensor:
    """The keys that each query head uses: (B, H, K, width)."""
    return _by_query_head(call.key, call.query)


def values(call: Call) -> Tensor:
    """The values that each query head uses: (B, H, K, width)."""
    return _by_query_head(call.value, call.query)


def _sinks(call: Call) -> Tensor | None:
    """The score of each head's sink, (H,), or None without sinks."""
    given = call.options.get("s_aux")
    sinks = getattr(call.module, "sinks", None) if given is None else given
    return sinks if isinstance(sinks, Tensor) else None


def _by_query_head(states: Tensor, query: Tensor) -> Tensor:
    """Keys or values (B, heads, K, width), repeated for the query heads that share them."""
    return states.repeat_interleave(query.size(1) // states.size(1), 1)


@cache
def _own_attention(kind: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    """The family's explicit attention, from the file that defines the module's `forward`."""
    forward: Any = inspect.unwrap(kind.forward)
    return forward.__globals__["eager_attention_forward"]


def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *args: Any,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Replacement for the attention of every family; the library calls it."""
    kind: Any = type(module)
    own = _own_attention(kind)
    watch = _watch.get()
    if watch is None:
        return own(module, query, key, value, attention_mask, *args, **options)
    index = watch.count
    edit = watch.edits.get(index)
    watch.count += 1
    attention_mask = _among_chosen(attention_mask, options.pop("indices", None))
    mask = attention_mask
    if edit and edit.mask:
        mask = edit.mask(mask, query, key)
    output, weights = own(module, query, key, value, mask, *args, **options)
    if edit and edit.weights:
        changed = edit.weights(weights, mask)
        if changed is not weights:
            weights, mixed = changed, changed.to(value.dtype) @ _by_query_head(value, query)
            output = mixed.transpose(1, 2).contiguous()
    if edit and edit.output:
        output = edit.output(output)
    if watch.record or watch.seen:
        given = attention_mask
        call = Call(module, weights, mask, given, query, key, value, output, options)
        watch.take(index, call.on_cpu())
    return output, weights


def _among_chosen(mask: Tensor | None, chosen: Tensor | None) -> Tensor | None:
    """`mask` (B, 1, Q, K), additive or boolean, with the keys masked that are not among those
    `chosen` (B, Q, count) for a query. DeepSeek-V3.2 and its relatives mask them themselves only
    for the library's own attention; to any other they hand them."""
    if mask is None or chosen is None:
        return mask
    other = torch.ones_like(mask, dtype=torch.bool).scatter(-1, chosen[:, None].long(), False)
    return mask.masked_fill(
        other, False if mask.dtype == torch.bool else torch.finfo(mask.dtype).min
    )


def _mask(*args: Any, allow_is_bidirectional_skip: bool = False, **options: Any) -> Any:
    """The library's explicit mask, even where the library could skip it."""
    return eager_mask(*args, allow_is_bidirectional_skip=False, **options)
