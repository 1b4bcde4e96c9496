"""The calls of attention that a torch module makes while it runs, seen between Python and torch.

Recorded are `F.multi_head_attention_forward`, the work of `nn.MultiheadAttention`, which is asked
for the weights of each head while its caller gets what it asked for;
`F.scaled_dot_product_attention`, whose weights are computed once more from its arguments; and a
softmax over the last axis of a product of two activations, which is attention written by hand.

Whether a call attends over its own sequence follows from what its queries and keys were projected
from, and its place from the path of the module that runs.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from explorer.core.errors import TraceError
from explorer.core.trace_from_arrays import LARGEST_MASKED
from explorer.model.tensor_origins import TensorOrigins

_MULTI_HEAD = signature(F.multi_head_attention_forward)
_DOT_PRODUCT = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
_SOFTMAX = (torch.softmax, F.softmax, torch.Tensor.softmax, torch.special.softmax)
_KERNELS = (
    *("flash_attn.flash_attn_interface", "flash_attn.flash_attn_triton", "flash_attn.cute"),
    *("flash_attn_interface", "flashinfer", "natten", "sageattention", "xformers.ops"),
    "torch.nn.attention.flex_attention",
)
"""Packages and modules whose functions attend without a softmax that Python sees."""


@dataclass(frozen=True, slots=True, eq=False)
class AttentionCall:
    """One call of attention. B batch, H heads, Q queries, K keys.

    path: of the innermost module that runs, such as "layers.0.self_attn".
    over_itself: whether queries and keys are the same sequence.
    weights: (B, H, Q, K), without the columns that `nn.MultiheadAttention` adds after the keys.
    sink: (B, H, Q) the weight of those columns, None without any.
    allowed: (B or 1, H or 1, Q, K) True = may attend, padding included.
    causal: whether the mask, apart from padding, masks all later positions.
    inside: by kind of array of a trace, such as "scores", (B, H, Q or K, …).
    scale: by which products of queries and keys are multiplied, None if unknown.
    error: largest difference of softmax(QKᵀ + mask)·V from the output, relative to its largest
        number if that is above 1; None where the weights are not computed once more.
    read: what the queries are projected from, None if unknown.
    """

    path: str
    over_itself: bool
    weights: Tensor
    allowed: Tensor
    causal: bool
    sink: Tensor | None = None
    inside: Mapping[str, Tensor] = field(default_factory=dict)
    scale: float | None = None
    error: float | None = None
    read: Tensor | None = None

    @property
    def block(self) -> str:
        """Path of the parent module."""
        return self.path.rpartition(".")[0]

    @property
    def stack(self) -> str:
        """Path of the module that holds the numbered layers: the names before the first number."""
        names = self.path.split(".")
        numbers = [place for place, name in enumerate(names) if name.isdecimal()]
        return ".".join(names[: numbers[0]] if numbers else names[:-1])


@contextmanager
def observed(module: nn.Module) -> Iterator[list[AttentionCall]]:
    """A block in which each call of attention inside `module` is added to the list.

    Raises `TraceError` on a call of a fused kernel of another package.
    """
    observer = _Observer(module)
    hooks = [
        hook
        for path, part in module.named_modules()
        for hook in (
            part.register_forward_pre_hook(observer.enter(path)),
            part.register_forward_hook(observer.leave, always_call=True),
        )
    ]
    before, kernels = sys.getprofile(), dict[str, None]()
    sys.setprofile(_kernel_watch(kernels))
    try:
        with observer:
            yield observer.calls
    finally:
        sys.setprofile(before)
        for hook in hooks:
            hook.remove()
        if kernels:
            raise TraceError("capture_kernel", got=type(module).__name__, name=", ".join(kernels))


def _kernel_watch(kernels: dict[str, None]) -> Any:
    """A profile function that adds the names of the called functions of `_KERNELS`."""

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event != "call":
            return
        module = str(frame.f_globals.get("__name__", ""))
        if any(module == kernel or module.startswith(f"{kernel}.") for kernel in _KERNELS):
            kernels.setdefault(module)

    return watch


class _Observer(TorchFunctionMode):
    """The mode in which torch hands over each call of its functions; those made inside of such a
    call, and by this class, are not handed over."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.calls: list[AttentionCall] = []
        self._origins = TensorOrigins(module)
        self._running: list[str] = []

    def enter(self, path: str) -> Any:
        """The hook of the module at `path` before it runs."""

        def enter(module: nn.Module, inputs: Any) -> None:
            self._running.append(path)

        return enter

    def leave(self, module: nn.Module, inputs: Any, output: Any) -> None:
        """The hook of every module after it has run or failed."""
        self._running.pop()

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        options = kwargs or {}
        if function is F.multi_head_attention_forward:
            return self._multi_head(_MULTI_HEAD.bind(*args, **options))
        result = function(*args, **options)
        if function is F.scaled_dot_product_attention:
            given = dict(zip(_DOT_PRODUCT, args, strict=False)) | options
            self.calls.append(self._dot_product(given, result))
        elif function in _SOFTMAX:
            self._softmax(args, options, result)
        else:
            self._origins.follow(function, result, [*args, *options.values()])
        return result

    @property
    def _path(self) -> str:
        return self._running[-1] if self._running else ""

    def _multi_head(self, bound: Any) -> Any:
        """The result that the caller asked for, from a call that returns the weights of all
        heads, which is recorded."""
        bound.apply_defaults()
        arguments = bound.arguments
        needed, averaged = arguments["need_weights"], arguments["average_attn_weights"]
        arguments["attn_mask"] = _mask_in_use(arguments)
        arguments |= {"need_weights": True, "average_attn_weights": False}
        states, weights = F.multi_head_attention_forward(*bound.args, **bound.kwargs)
        assert weights is not None
        self.calls.append(_multi_head_call(self._path, arguments, weights))
        returned = weights.mean(-3) if averaged else weights
        return states, returned if needed else None

    def _dot_product(self, given: Mapping[str, Any], output: Tensor) -> AttentionCall:
        """The record of a call of `scaled_dot_product_attention` with these arguments."""
        query, key, value = (given[name].float() for name in _DOT_PRODUCT[:3])
        if given.get("enable_gqa"):
            groups = query.size(-3) // key.size(-3)
            key, value = (one.repeat_interleave(groups, -3) for one in (key, value))
        scale = given.get("scale")
        scale = 1 / math.sqrt(query.size(-1)) if scale is None else float(scale)
        scores = query @ key.transpose(-2, -1) * scale  # (…, Q, K)
        added = _added(given, scores)
        allowed = added > LARGEST_MASKED
        weights = (scores + added).softmax(-1)
        if not bool(output.isnan().any()):
            weights = weights.nan_to_num()  # a query without a key, whose output is 0
        inside = {
            "scores": scores + added.masked_fill(~allowed, 0),
            "query_vectors": query,
            "key_vectors": key,
            "values": value,
            "head_output": output.float(),
        }
        sources = [self._origins.read_by(given[name]) for name in ("query", "key")]
        return self._call(
            sources,
            weights.to(given["query"].dtype),
            allowed,
            inside,
            scale=scale,
            error=_difference(weights @ value, output.float()),
        )

    def _softmax(self, args: Sequence[Any], options: Mapping[str, Any], weights: Tensor) -> None:
        """Record a softmax over the keys of a product of queries and keys."""
        given = dict(zip(("input", "dim"), args, strict=False)) | dict(options)
        filled, axis = given["input"], given.get("dim")
        product = self._origins.product(filled)
        if product is None or filled.dim() < 2 or axis not in (-1, filled.dim() - 1):
            return
        # In older code −10,000 is added to a score.
        allowed = filled > LARGEST_MASKED / 2
        scores = product.unmasked
        inside = {}
        if scores is not None and scores.numel() == filled.numel():
            inside["scores"] = scores.reshape(filled.shape).float()
        self.calls.append(self._call([product.query, product.key], weights, allowed, inside))

    def _call(
        self,
        sources: Sequence[Tensor],
        weights: Tensor,
        allowed: Tensor,
        inside: Mapping[str, Tensor],
        scale: float | None = None,
        error: float | None = None,
    ) -> AttentionCall:
        """The record of a call without added keys; weights, allowed: (…, Q, K)."""
        read, other = sources
        batch = self._batch(weights, read)

        def whole(array: Tensor) -> Tensor:
            array = array.detach().expand(*weights.shape[:-2], *array.shape[-2:])
            return array.reshape(batch, -1, *array.shape[-2:])  # (B, H, Q or K, …)

        allowed = whole(allowed)
        return AttentionCall(
            self._path,
            over_itself=read is other or same(read, other),
            weights=whole(weights),
            allowed=allowed,
            causal=_is_causal(allowed),
            inside={kind: whole(array) for kind, array in inside.items()},
            scale=scale,
            error=error,
            read=read,
        )

    def _batch(self, weights: Tensor, read: Tensor) -> int:
        """The sequences in weights (…, Q, K) of queries that are projected from `read`.

        Raises `TraceError` on heads of several sequences along one axis: which of the two comes
        first is not known.
        """
        if weights.dim() != 3:
            return weights.size(0) if weights.dim() > 3 else 1
        joined, queries = weights.shape[:2]
        batch = 1
        if read.dim() > 2:
            batch = read.size(0) if read.size(1) == queries else read.size(1)
        if joined not in (batch, 0) and batch > 1:
            raise TraceError("capture_joined_heads", path=self._path, got=joined, batch=batch)
        return batch


def _mask_in_use(given: Mapping[str, Any]) -> Tensor | None:
    """The mask that a call really uses. With `is_causal` and without weights, torch ignores
    `attn_mask` and masks later positions."""
    mask: Tensor | None = given["attn_mask"]
    hinted = given["is_causal"] and not given["need_weights"] and given["key_padding_mask"] is None
    if mask is None or not hinted:
        return mask
    later = torch.ones(mask.shape[-2:], dtype=torch.bool, device=mask.device).triu(1)
    return later.expand_as(mask)


def _multi_head_call(path: str, given: Mapping[str, Any], weights: Tensor) -> AttentionCall:
    """The record of a call of `multi_head_attention_forward`, which has the sequence first.

    weights: (B, H, Q, K + added) or (H, Q, K + added), as torch returns them.
    """
    query, key = given["query"], given["key"]
    weights = weights if weights.dim() == 4 else weights[None]
    keys = key.size(0)
    added = weights[..., keys:]
    unmasked = torch.ones(1, 1, weights.size(2), keys, dtype=torch.bool, device=weights.device)
    if given["attn_mask"] is not None:
        mask = _may_attend(given["attn_mask"])
        unmasked = (
            mask[None, None]
            if mask.dim() == 2
            else mask.reshape(-1, given["num_heads"], *mask.shape[-2:])
        )
    allowed = unmasked
    if given["key_padding_mask"] is not None:
        allowed = unmasked & _may_attend(given["key_padding_mask"]).reshape(-1, 1, 1, keys)
    return AttentionCall(
        path,
        over_itself=query is key or same(query, key),
        weights=weights[..., :keys],
        sink=added.sum(-1) if added.size(-1) else None,
        allowed=allowed,
        causal=_is_causal(unmasked),
    )


def _may_attend(mask: Tensor) -> Tensor:
    """Convert a mask of `nn.MultiheadAttention`, boolean or of numbers to add, to True = may
    attend."""
    return ~mask if mask.dtype == torch.bool else mask > LARGEST_MASKED


def _added(given: Mapping[str, Any], scores: Tensor) -> Tensor:
    """What `scaled_dot_product_attention` adds to `scores`: (…, Q, K), −∞ where its mask or
    `is_causal` masks. Here True in a boolean mask means may attend."""
    added, mask = torch.zeros_like(scores), given.get("attn_mask")
    if given.get("is_causal"):
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        added = added.masked_fill(later, -math.inf)
    if mask is None:
        return added
    return added.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else added + mask


def _is_causal(allowed: Tensor) -> bool:
    """Whether there are later positions and all are masked."""
    later = torch.ones(allowed.shape[-2:], dtype=torch.bool, device=allowed.device).triu(1)
    return bool(later.any()) and not bool((allowed & later).any())


def same(one: Tensor, other: Tensor) -> bool:
    """Whether both hold the same numbers; NaN equals NaN."""
    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())


def _difference(computed: Tensor, returned: Tensor) -> float:
    """Largest difference of two results, relative to the largest number if that is above 1."""
    if not returned.numel():
        return 0.0
    known = returned.nan_to_num()
    scale = max(1.0, float(known.abs().max()))
    return float((computed.nan_to_num() - known).abs().max()) / scale
