"""`capture`: the attention of a torch module, recorded while it runs its own forward pass.

The calls of attention are those of `observed_attention`; here they become the layers of sites. In
a boolean mask of `nn.MultiheadAttention` True means may NOT attend, in one of
`scaled_dot_product_attention` may attend; numbers are added to the scores.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.core.errors import TraceError
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.model.observed_attention import AttentionCall, observed
from explorer.model.wrapped_names import unwrapped

_LARGEST_CHANGE = 1e-2
"""Largest accepted difference of a result, relative to its largest number."""


@torch.no_grad()
def capture(
    module: nn.Module,
    *inputs: Any,
    source_tokens: Sequence[object] | None = None,
    target_tokens: Sequence[object] | None = None,
    item: int | None = None,
    **options: Any,
) -> Trace:
    """The attention of one run of a torch module: of `nn.Transformer`, its stacks and layers,
    `nn.MultiheadAttention`, and of a module of your own that calls one of these,
    `scaled_dot_product_attention`, or a softmax over the keys of a product of queries and keys.

    >>> layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
    >>> trace = explorer.capture(nn.TransformerEncoder(layer, 2), torch.randn(1, 5, 16))

    inputs, options: arguments of the module, masks included, with the meaning that they have there:
        in a boolean mask of `nn.MultiheadAttention` True = may NOT attend; the trace has True = may
        attend. A key that no query may attend to counts as padding; any other cell that your mask
        masks counts as "edited".
    source_tokens, target_tokens: labels; None = positions. An encoder reads the source, a decoder
        the target. A stack of encoder layers with a causal mask is a decoder alone.
    item: number of the sequence in a batch; required if there are several.

    Each call is a layer of its site, in the order of the calls, with the path of its module in
    `trace.facts["modules"]`; modules of one head each over the same tokens, numbered in one list,
    are the heads of a layer. Keys that torch adds (`add_bias_kv`, `add_zero_attn`) are not tokens:
    their weight is the attention sink of the row. Of a layer with `scaled_dot_product_attention`
    the trace has scores, queries, keys, values and outputs (layer, head, query or key, width), too,
    of a softmax the scores, where they are known before the mask.

    The module runs twice in eval mode, as it is written (without torch's fast path and
    torch.compile), once with and once without being read; `hooked_equals_plain` in
    `trace.integrity()` is the largest difference of the two results, `recomputed_equals_output`
    that of softmax(QKᵀ + mask)·V from what `scaled_dot_product_attention` returned. The module is
    left unchanged, training mode included.

    Raises `TraceError` on a module that calls no such attention, a fused kernel of another package
    or torch.jit; on one that raises itself; on an output that its weights do not give, as with
    dropout; on a query that may attend to no key, for which torch gives NaN; on inputs without a
    token or with a cache; on labels for tokens that the module does not have; and on layers of one
    site that differ in heads or tokens.
    """
    own = unwrapped(module)
    if not isinstance(own, nn.Module):
        raise TraceError("capture_no_module", got=type(module).__name__)
    for path, part in own.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise TraceError("capture_script", got=type(own).__name__, path=path or "module")
    with _quiet(own):
        plain = _result(own, inputs, options)
        with observed(own) as calls:
            captured = _result(own, inputs, options)
    if not calls:
        raise TraceError("capture_no_attention", got=type(own).__name__)
    chosen = _joined([_chosen(call, item) for call in calls])
    _refuse_other_keys(chosen)
    measured = {"hooked_equals_plain": _change(plain, captured), **_recomputed(chosen)}
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
    facts = {
        "model": type(own).__name__,
        "library": f"torch {torch.__version__}",
        "modules": {site: [call.path for call in layers] for site, layers in sites.items()},
    }
    return replace(
        trace,
        arrays={**trace.arrays, **_sinks(sites), **_inside(sites)},
        measured=measured,
        facts={**trace.facts, **facts},
        digest="",
    )


@contextmanager
def _quiet(module: nn.Module) -> Iterator[None]:
    """A block with `module` in eval mode, without torch's fast path, which has no weights, and
    with functions that torch.compile has compiled as they are written."""
    compiler = "torch._dynamo" in sys.modules  # nothing is compiled before; a second to import
    as_written = torch.compiler.set_stance("force_eager") if compiler else nullcontext()
    modes = [(part, part.training) for part in module.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with as_written:
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
    except TraceError:
        raise
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


def _recomputed(calls: Sequence[AttentionCall]) -> dict[str, float]:
    """The largest error of the calls whose weights are computed once more, by its check.

    Raises `TraceError` where it is more than rounding.
    """
    errors = {call.path: call.error for call in calls if call.error is not None}
    for path, error in errors.items():
        if not error <= _LARGEST_CHANGE:
            raise TraceError("capture_other_output", path=path, error=f"{error:.1e}")
    return {"recomputed_equals_output": max(errors.values())} if errors else {}


def _chosen(call: AttentionCall, item: int | None) -> AttentionCall:
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
        inside={kind: array[where] for kind, array in call.inside.items()},
    )


def _joined(calls: Sequence[AttentionCall]) -> list[AttentionCall]:
    """The calls, with the heads of a layer that are modules of their own as one call: modules with
    one head, numbered in one list, that read the same activation."""
    joined: list[AttentionCall] = []
    for call in calls:
        last = joined[-1] if joined else None
        numbered = call.path.rpartition(".")[2].isdecimal()
        if last is None or not (numbered and _are_heads(last, call)):
            joined.append(call)
            continue
        kinds = [kind for kind in last.inside if kind in call.inside]
        joined[-1] = replace(
            last,
            weights=torch.cat([last.weights, call.weights], 1),
            allowed=torch.cat([last.allowed, call.allowed]),
            inside={kind: torch.cat([last.inside[kind], call.inside[kind]], 1) for kind in kinds},
            error=max((one.error for one in (last, call) if one.error is not None), default=None),
        )
    return joined


def _are_heads(last: AttentionCall, call: AttentionCall) -> bool:
    """Whether `call` is the next head of `last`."""
    beside = last.block == call.block and last.path != call.path and last.read is call.read
    alone = call.read is not None and call.weights.size(1) == len(call.allowed) == 1
    return beside and alone and last.weights.shape[2:] == call.weights.shape[2:]


def _refuse_other_keys(calls: Sequence[AttentionCall]) -> None:
    """Raise `TraceError` on self-attention with other keys than queries, and on the first query
    that may attend to no key and has NaN weights.

    All that is computed from it is NaN, so later calls do not show where that began.
    """
    for call in calls:
        queries, keys = call.weights.shape[2:]
        if call.over_itself and queries != keys:
            facts = {"path": call.path, "queries": queries, "keys": keys}
            raise TraceError("capture_other_keys", **facts)
        without_key = call.weights[0].isnan().all(-1) & ~call.allowed.any(-1)  # (head, query)
        if bool(without_key.any()):
            query = int(without_key.any(0).nonzero()[0])
            raise TraceError("capture_closed_query", query=query, site=_site(call, calls))


def _sites(calls: Sequence[AttentionCall]) -> dict[str, list[AttentionCall]]:
    """The calls of each site. Raises `TraceError` if layers of one site differ in shape."""
    sites: dict[str, list[AttentionCall]] = {}
    for call in calls:
        sites.setdefault(_site(call, calls), []).append(call)
    for site, layers in sites.items():
        shapes = dict.fromkeys(tuple(call.weights.shape[1:]) for call in layers)
        if len(shapes) > 1:
            raise TraceError("capture_uneven", site=site, got=", ".join(map(str, shapes)))
        heads = max(call.allowed.size(0) for call in layers)
        sites[site] = [replace(call, allowed=call.allowed.expand(heads, -1, -1)) for call in layers]
    return {site: sites[site] for site in SITES if site in sites}


def _site(call: AttentionCall, calls: Sequence[AttentionCall]) -> str:
    """Site of a call. In a model with cross-attention, self-attention is the decoder's if it is in
    the same block, or has as many tokens as the cross queries; of as many tokens on both sides, if
    its stack of layers has cross-attention and another has none, or if its mask is causal. In a
    model without, a causal mask shows a decoder."""
    if not call.over_itself:
        return "cross"
    cross = [one for one in calls if not one.over_itself]
    if not cross:
        return "decoder" if call.causal else "encoder"
    queries, keys = cross[0].weights.shape[2:]
    stacks = {one.stack for one in cross}
    if call.block in {one.block for one in cross}:
        decodes = True
    elif queries != keys:
        decodes = queries == call.weights.size(2)
    elif any(one.stack not in stacks for one in calls):
        decodes = call.stack in stacks
    else:
        decodes = call.causal
    return "decoder" if decodes else "encoder"


def _mask(layers: Sequence[AttentionCall]) -> Tensor:
    """(query, key) if all layers and heads share one mask, else (layer, 1 or head, query, key)."""
    heads = max(call.allowed.size(0) for call in layers)
    masks = torch.stack([call.allowed.expand(heads, -1, -1) for call in layers])
    if bool((masks == masks[:1, :1]).all()):
        return masks[0, 0]
    return masks[:, :1] if bool((masks == masks[:, :1]).all()) else masks


def _labels(
    name: str,
    tokens: Sequence[object] | None,
    sites: Mapping[str, list[AttentionCall]],
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


def _sinks(sites: Mapping[str, list[AttentionCall]]) -> dict[str, Any]:
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


def _inside(sites: Mapping[str, list[AttentionCall]]) -> dict[str, Any]:
    """The further arrays (layer, head, query or key, …) that all layers of a site have, of one
    shape, and the scales (layer,) of their scores."""
    found: dict[str, Any] = {}
    for site, layers in sites.items():
        for kind in layers[0].inside:
            parts = [call.inside[kind][0] for call in layers if kind in call.inside]
            if len(parts) == len(layers) and len({part.shape for part in parts}) == 1:
                found[f"{site}.{kind}"] = torch.stack(parts).float().cpu().numpy()
        scales = [call.scale for call in layers if call.scale is not None]
        if len(scales) == len(layers):
            found[f"{site}.score_scale"] = np.array(scales, np.float32)
    return found
