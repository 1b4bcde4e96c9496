"""The weights that the library returns, for a family that computes attention in its own way.

Such a family can be traced, but not changed. Its masks are unknown, so they follow from reasons: a
cell is masked by padding, as a later position or by a window, and its weight must be 0. A cell
without a reason is unmasked, even if its weight is 0: in float32 a softmax gives 0 to a score 104
below the largest. When a model is opened, a cell without a reason that is 0 in every head of a
layer counts as an unknown kind of mask, and the family is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import ModelDirectoryError
from explorer.core.sites import sides
from explorer.model.huggingface.anatomy import Anatomy, Kind, Place
from explorer.model.huggingface.capture.attention_calls import Call
from explorer.model.huggingface.inputs import Inputs
from explorer.model.masks import path_mask

Returned = Mapping[str, Sequence[Tensor]]
"""By site, the weights (N, H, Q, K) of each layer."""

_LARGEST_ERROR = 1e-5
_LARGEST_HALF_ERROR = 1e-2


def notes_of(anatomy: Anatomy, model: Any) -> tuple[ModelDirectoryError, ...]:
    """Notes on a model of which only the weights are known; empty for other models."""
    family = str(model.config.model_type)
    return (ModelDirectoryError("weights_only", family=family),) if anatomy.weights_only else ()


def window_of(config: Any) -> int | None:
    """Distance in the config from which on some layers may not attend, or None without a window."""
    window = getattr(config, "window_size", None)
    return window if isinstance(window, int) and window > 0 else None


def returned_anatomy(kind: Kind, returned: Returned, inputs: Inputs, model: Any) -> Anatomy:
    """The attention of `model`, by the weights that it returns for `inputs`.

    inputs: longer than the window.

    Raises `ModelDirectoryError` if a stack returns no weights, or weights that cannot be shown.
    """
    family, window = str(model.config.model_type), window_of(model.config)
    encoder, decoder = (
        tuple(
            _place(site, layer, weights, window, family)
            for site in sites
            for layer, weights in enumerate(returned.get(site, ()))
        )
        for sites in (("encoder",), ("decoder", "cross"))
    )
    complete = (encoder or kind == Kind.DECODER_ONLY) and (decoder or kind == Kind.ENCODER_ONLY)
    if not complete:
        raise ModelDirectoryError(_why_none(model), family=family)
    for site in returned:
        if len({place.heads for place in encoder + decoder if place.site == site}) > 1:
            raise ModelDirectoryError("uneven_heads", family=family, site=site)
    for place, call in zip(
        encoder + decoder,
        returned_calls(encoder + decoder, returned, inputs, family),
        strict=True,
    ):
        assert call.mask is not None
        if bool((call.mask & ~call.weights.any(1, keepdim=True)).any()):
            raise ModelDirectoryError("unknown_mask", family=family, site=place.site)
    return Anatomy(kind, encoder, decoder)


def _why_none(model: Any) -> str:
    """Key of the sentence on a model that returns no weights."""
    if getattr(model.config, "attention_type", None) == "block_sparse":
        return "block_sparse"
    names = (f"{path} {type(part).__name__}".lower() for path, part in model.named_modules())
    attends = any("attention" in name or "attn" in name for name in names)
    return "off_interface" if attends else "no_attention"


def looks_ahead(returned: Returned) -> bool:
    """Whether tokens of a decoder attend to later ones; if so, it is really an encoder."""
    return any(bool(weights.triu(1).any()) for weights in returned.get("decoder", ()))


def returned_calls(
    places: Sequence[Place], returned: Returned, inputs: Inputs, family: str
) -> Iterator[Call]:
    """The calls of one stack, by the weights that the library returned for `inputs`.

    Raises `ModelDirectoryError` on weights that have other axes than these queries and keys, do not
    sum to 1, or are not 0 where a reason masks them.
    """
    for place in places:
        weights = returned[place.site][place.layer]
        mask, queries = _unmasked_cells(place, inputs)
        _refuse_others(weights, mask, queries, place.site, family)
        # In some families the weights of a padded query follow no mask and are meaningless.
        follows = (weights.bool() <= mask).all((1, 3)) & weights.any(-1).all(1)  # (N, Q)
        mask = mask & (queries | follows[:, None, :, None])
        batch, heads, rows, keys = weights.shape
        yield Call(
            module=None,
            weights=weights,
            mask=mask,
            given=mask,
            query=weights.new_empty(batch, heads, rows, 0),
            key=weights.new_empty(batch, heads, keys, 0),
            value=weights.new_empty(batch, heads, keys, 0),
            output=weights.new_empty(batch, rows, heads, 0),
            options={},
        )


def _place(site: str, layer: int, weights: Tensor, window: int | None, family: str) -> Place:
    if weights.ndim != 4:
        raise ModelDirectoryError("other_axes", family=family)
    local = window is not None and site == "decoder" and window < weights.size(-1)
    if not local or weights.tril(-(window or 0)).any():
        window = None
    return Place(site, layer, layer, weights.size(1), 0, window)


def _unmasked_cells(place: Place, inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Bool: where queries may attend (N, 1, Q, K), and which are not padding (N, 1, Q, 1)."""
    source, target = (
        None if mask is None else mask == 1 for mask in (inputs.source_mask, inputs.target_mask)
    )
    queries, _ = sides(source, target)[place.site]
    assert queries is not None
    mask = path_mask(place.site, source, target, causal=True)
    if place.window is not None:
        mask = mask.triu(1 - place.window)
    return mask[:, None], queries[:, None, :, None]


def _refuse_others(weights: Tensor, mask: Tensor, queries: Tensor, site: str, family: str) -> None:
    """Raise `ModelDirectoryError` if rows that are not padding do not fit `mask`: wrong axes, a sum
    other than 1, or a masked weight other than 0."""
    if weights.ndim != 4 or weights[:, :1].shape != mask.shape:
        raise ModelDirectoryError("other_axes", family=family)
    limit = _LARGEST_ERROR if weights.dtype == torch.float32 else _LARGEST_HALF_ERROR
    rows = queries & mask.any(-1, keepdim=True)
    sums = weights.sum(-1, keepdim=True, dtype=torch.float32)
    error = float(((sums - 1).abs() * rows).max())
    if not error <= limit:  # NaN fails as well
        raise ModelDirectoryError("not_one", family=family, site=site, error=f"{error:.1e}")
    largest = float((weights * (rows & ~mask)).max())
    if largest:
        raise ModelDirectoryError("not_masked", family=family, site=site, error=f"{largest:.1e}")
