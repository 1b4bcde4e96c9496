"""`capture`: the attention of a torch module, recorded while it runs its own forward pass.

Every `nn.MultiheadAttention` inside is asked for the weights of each head; its caller still gets
what it asked for. The masks of torch have the inverted meaning: True = may NOT attend, and numbers
are added to the scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.core.errors import TraceError
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.core.trace_from_arrays import LARGEST_MASKED
from explorer.model.wrapped_names import unwrapped

_FORWARD = signature(nn.MultiheadAttention.forward)

_LARGEST_CHANGE = 1e-2
"""Largest accepted difference of the result, relative to its largest number."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """One call of attention. B batch, H heads, Q queries, K keys.

    path: of the module, such as "layers.0.self_attn".
    over_itself: whether queries and keys are the same sequence.
    weights: (B, H, Q, K), without the columns that torch adds after the keys.
    sink: (B, H, Q) the weight of those columns, None without any.
    allowed: (B or 1, H or 1, Q, K) True = may attend, padding included.
    causal: whether the mask, apart from padding, masks all later positions.
    """

    path: str
    over_itself: bool
    weights: Tensor
    sink: Tensor | None
    allowed: Tensor
    causal: bool

    @property
    def block(self) -> str:
        """Path of the parent module."""
        return self.path.rpartition(".")[0]


@torch.no_grad()
def capture(
    module: nn.Module,
    *inputs: Any,
    source_tokens: Sequence[object] | None = None,
    target_tokens: Sequence[object] | None = None,
    item: int | None = None,
    **options: Any,
) -> Trace:
    """The attention of one run of `nn.Transformer`, `nn.TransformerEncoder`, a layer of them,
    `nn.MultiheadAttention`, or a module of your own with such parts.

    >>> layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
    >>> trace = explorer.capture(nn.TransformerEncoder(layer, 2), torch.randn(1, 5, 16))

    inputs, options: arguments of the module, masks included. Masks have torch's meaning: in a
        boolean `attn_mask`, `src_mask`, `src_key_padding_mask` … True = may NOT attend; the
        trace has True = may attend. A key that no query may attend to counts as padding; any
        other cell that your mask masks counts as "edited".
    source_tokens, target_tokens: labels; None = positions. An encoder reads the source, a decoder
        the target. A stack of encoder layers with a causal mask is a decoder alone.
    item: number of the sequence in a batch; required if there are several.

    Each call of `nn.MultiheadAttention` is a layer of its site, in the order of the calls. Keys
    that torch adds (`add_bias_kv`, `add_zero_attn`) are not tokens: their weight is the attention
    sink of the row. The module runs twice in eval mode, without its fast path, once with and once
    without the weights; `hooked_equals_plain` in `trace.integrity()` is the largest difference of
    the two results. The module is left unchanged, training mode included.

    Raises `TraceError` on a module without `nn.MultiheadAttention`, on one that raises itself, on
    a query that may attend to no key, for which torch gives NaN, on inputs without a token, on
    labels for tokens that the module does not have, and on layers of one site that differ in heads
    or tokens.
    """
    own = unwrapped(module)
    if not isinstance(own, nn.Module):
        raise TraceError("capture_no_module", got=type(module).__name__)
    if not any(isinstance(part, nn.MultiheadAttention) for part in own.modules()):
        raise TraceError("capture_no_attention", got=type(own).__name__)
    with _quiet(own):
        plain = _result(own, inputs, options)
        with _watched(own) as calls:
            captured = _result(own, inputs, options)
    if not calls:
        raise TraceError("capture_not_called", got=type(own).__name__)
    chosen = [_chosen(call, item) for call in calls]
    _refuse_queries_without_key(chosen)
    change = _change(plain, captured)
    sites = _sites(chosen)
    weights = {site: [call.weights for call in layers] for site, layers in sites.items()}
    trace = Trace.from_arrays(
        _labels("source_tokens", source_tokens, sites, {"encoder": 3, "cross": 3}),
        _labels("target_tokens", target_tokens, sites, {"decoder": 3, "cross": 2}),
        encoder=weights.get("encoder"),
        decoder=weights.get("decoder"),
        cross=weights.get("cross"),
        masks={site: _mask(layers) for site, layers in sites.items()},
    )
    facts = {"model": type(own).__name__, "library": f"torch {torch.__version__}"}
    return replace(
        trace,
        arrays={**trace.arrays, **_sinks(sites)},
        measured={"hooked_equals_plain": change},
        facts={**trace.facts, **facts},
        digest="",
    )


@contextmanager
def _quiet(module: nn.Module) -> Iterator[None]:
    """A block with `module` in eval mode and without torch's fast path, which has no weights."""
    modes = [(part, part.training) for part in module.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for part, training in modes:
            part.training = training


def _result(module: nn.Module, inputs: Sequence[Any], options: Mapping[str, Any]) -> list[Tensor]:
    """The tensors that `module` returns; its random numbers are the same in every run."""
    devices = {weight.device.index for weight in module.parameters() if weight.is_cuda}
    try:
        with torch.random.fork_rng(sorted(devices)):
            return list(_tensors(module(*inputs, **options)))
    except Exception as error:  # the module's own code, which raises anything
        reason = str(error).strip().split("\n")[0][:200] or type(error).__name__
        raise TraceError("capture_failed", got=type(module).__name__, reason=reason) from error


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value.detach()
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)


def _change(plain: Sequence[Tensor], captured: Sequence[Tensor]) -> float:
    """Largest difference, relative to the largest number if that is above 1; NaN equals NaN.

    Raises `TraceError` if the results differ by more than rounding.
    """
    largest = 0.0
    for before, after in zip(plain, captured, strict=True):
        if before.shape != after.shape or bool((before.isnan() != after.isnan()).any()):
            raise TraceError("capture_changes", error="NaN")
        known = before.double().nan_to_num()
        scale = max(1.0, float(known.abs().max())) if known.numel() else 1.0
        difference = (after.double().nan_to_num() - known).abs() / scale
        largest = max(largest, float(difference.max()) if known.numel() else 0.0)
    if not largest <= _LARGEST_CHANGE:
        raise TraceError("capture_changes", error=f"{largest:.1e}")
    return largest


@contextmanager
def _watched(module: nn.Module) -> Iterator[list[_Call]]:
    """A block in which each call of attention inside `module` is added to the list."""
    calls: list[_Call] = []
    asked: list[tuple[bool, bool]] = []  # (need_weights, average_attn_weights) of the running call

    def before(part: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        bound = _FORWARD.bind(part, *args, **options)
        bound.apply_defaults()
        arguments = bound.arguments
        asked.append((arguments["need_weights"], arguments["average_attn_weights"]))
        arguments["attn_mask"] = _mask_in_use(arguments)
        arguments |= {"need_weights": True, "average_attn_weights": False}
        return bound.args[1:], bound.kwargs

    def after(part: Any, args: tuple[Any, ...], options: dict[str, Any], output: Any) -> Any:
        states, weights = output
        arguments = _FORWARD.bind(part, *args, **options).arguments
        calls.append(_call(paths[part], part, arguments, weights))
        needed, averaged = asked.pop()
        returned = weights.mean(-3) if averaged else weights
        return states, returned if needed else None

    parts = {
        path: part
        for path, part in module.named_modules()
        if isinstance(part, nn.MultiheadAttention)
    }
    paths = {part: path for path, part in parts.items()}
    hooks = [part.register_forward_pre_hook(before, with_kwargs=True) for part in paths]
    hooks += [part.register_forward_hook(after, with_kwargs=True) for part in paths]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def _mask_in_use(given: Mapping[str, Any]) -> Tensor | None:
    """The mask that a call really uses. With `is_causal` and without weights, torch ignores
    `attn_mask` and masks later positions."""
    mask: Tensor | None = given["attn_mask"]
    hinted = given["is_causal"] and not given["need_weights"] and given["key_padding_mask"] is None
    if mask is None or not hinted:
        return mask
    later = torch.ones(mask.shape[-2:], dtype=torch.bool, device=mask.device).triu(1)
    return later.expand_as(mask)


def _call(path: str, part: Any, given: Mapping[str, Any], weights: Tensor) -> _Call:
    """The record of a call.

    weights: (B, H, Q, K + added) or (H, Q, K + added), as torch returns them.
    """
    query, key = given["query"], given["key"]
    weights = weights if weights.dim() == 4 else weights[None]
    batched = query.dim() == 3
    keys = key.size(1 if batched and part.batch_first else 0)
    added = weights[..., keys:]
    unmasked = torch.ones(1, 1, weights.size(2), keys, dtype=torch.bool, device=weights.device)
    if given["attn_mask"] is not None:
        mask = _may_attend(given["attn_mask"])
        unmasked = (
            mask[None, None]
            if mask.dim() == 2
            else mask.reshape(-1, part.num_heads, *mask.shape[-2:])
        )
    allowed = unmasked
    if given["key_padding_mask"] is not None:
        allowed = unmasked & _may_attend(given["key_padding_mask"]).reshape(-1, 1, 1, keys)
    later = torch.ones_like(unmasked).triu(1)
    return _Call(
        path,
        over_itself=query is key or _same(query, key),
        weights=weights[..., :keys],
        sink=added.sum(-1) if added.size(-1) else None,
        allowed=allowed,
        causal=bool(later.any()) and not bool((unmasked & later).any()),
    )


def _same(query: Tensor, key: Tensor) -> bool:
    """Whether both hold the same numbers; NaN equals NaN."""
    return query.shape == key.shape and torch.equal(query.nan_to_num(), key.nan_to_num())


def _may_attend(mask: Tensor) -> Tensor:
    """Convert a torch mask, boolean or of numbers to add, to True = may attend."""
    return ~mask if mask.dtype == torch.bool else mask > LARGEST_MASKED


def _chosen(call: _Call, item: int | None) -> _Call:
    """The call for one sequence of its batch, with B = 1. Raises `TraceError` without such
    a sequence or any token."""
    count = call.weights.size(0)
    if not call.weights.numel():
        raise TraceError("capture_no_tokens", got=tuple(call.weights.shape))
    if item is None and count > 1:
        raise TraceError("capture_batch", got=count, last=count - 1)
    number = 0 if item is None else item
    if type(number) is not int or not 0 <= number < count:
        raise TraceError("capture_no_item", item=repr(item), last=count - 1)
    where = slice(number, number + 1)
    return replace(
        call,
        weights=call.weights[where],
        sink=None if call.sink is None else call.sink[where],
        allowed=call.allowed[where if call.allowed.size(0) > 1 else slice(None)][0],
    )


def _refuse_queries_without_key(calls: Sequence[_Call]) -> None:
    """Raise `TraceError` on the first query that may attend to no key and has NaN weights.

    All that is computed from it is NaN, so later calls do not show where that began.
    """
    cross = [call for call in calls if not call.over_itself]
    for call in calls:
        without_key = call.weights[0].isnan().all(-1) & ~call.allowed.any(-1)  # (head, query)
        if bool(without_key.any()):
            query = int(without_key.any(0).nonzero()[0])
            raise TraceError("capture_closed_query", query=query, site=_site(call, cross))


def _sites(calls: Sequence[_Call]) -> dict[str, list[_Call]]:
    """The calls of each site. Raises `TraceError` if layers of one site differ in shape."""
    cross = [call for call in calls if not call.over_itself]
    sites: dict[str, list[_Call]] = {}
    for call in calls:
        sites.setdefault(_site(call, cross), []).append(call)
    for site, layers in sites.items():
        shapes = dict.fromkeys(tuple(call.weights.shape[1:]) for call in layers)
        if len(shapes) > 1:
            raise TraceError("capture_uneven", site=site, got=", ".join(map(str, shapes)))
        heads = max(call.allowed.size(0) for call in layers)
        sites[site] = [replace(call, allowed=call.allowed.expand(heads, -1, -1)) for call in layers]
    return {site: sites[site] for site in SITES if site in sites}


def _site(call: _Call, cross: Sequence[_Call]) -> str:
    """Site of a call. In a model with cross-attention, self-attention is the decoder's if it is in
    the same block or has as many tokens as the cross queries but not as the cross keys. In a model
    without, a causal mask shows a decoder."""
    if not call.over_itself:
        return "cross"
    if not cross:
        return "decoder" if call.causal else "encoder"
    queries, keys = cross[0].weights.shape[2:]
    beside = call.block in {one.block for one in cross}
    return "decoder" if beside or queries == call.weights.size(2) != keys else "encoder"


def _mask(layers: Sequence[_Call]) -> Tensor:
    """(query, key) if all layers and heads share one mask, else (layer, 1 or head, query, key)."""
    heads = max(call.allowed.size(0) for call in layers)
    masks = torch.stack([call.allowed.expand(heads, -1, -1) for call in layers])
    if bool((masks == masks[:1, :1]).all()):
        return masks[0, 0]
    return masks[:, :1] if bool((masks == masks[:, :1]).all()) else masks


def _labels(
    name: str,
    tokens: Sequence[object] | None,
    sites: Mapping[str, list[_Call]],
    axes: Mapping[str, int],
) -> Sequence[object]:
    """The tokens; None = positions, counted by the axis of the first of these sites.

    axes: site → axis of its weights. Raises `TraceError` on tokens without any of these sites.
    """
    counts = [sites[site][0].weights.size(axis) for site, axis in axes.items() if site in sites]
    if tokens is None:
        return range(counts[0]) if counts else ()
    if not counts:
        raise TraceError("capture_no_side", name=name, sites=", ".join(sites))
    return tokens


def _sinks(sites: Mapping[str, list[_Call]]) -> dict[str, Any]:
    """The sinks (layer, head, query) of the sites that have any."""
    found: dict[str, Any] = {}
    for site, layers in sites.items():
        if any(call.sink is not None for call in layers):
            rows = [
                torch.zeros_like(call.weights[0, ..., 0]) if call.sink is None else call.sink[0]
                for call in layers
            ]
            found[f"{site}.sink"] = np.stack([row.float().cpu().numpy() for row in rows])
    return found
