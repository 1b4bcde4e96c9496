"""Check a model when it is opened.

The captured weights must equal those that the library itself returns, and those recomputed from
queries, keys, mask and bias. A model that fails is refused with the reason.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.anatomy import Anatomy, Kind, OutputHead, Place
from explorer.model.huggingface.capture.attention_calls import (
    CAPTURE,
    Call,
    recomputed,
    register,
    scores,
)
from explorer.model.huggingface.capture.module_hooks import watch
from explorer.model.huggingface.capture.output_head import body_path, returned_before_head
from explorer.model.huggingface.capture.passes import Pass, full_pass
from explorer.model.huggingface.capture.returned_weights import (
    Returned,
    looks_ahead,
    returned_anatomy,
    window_of,
)
from explorer.model.huggingface.fed_text import without_head
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.library_errors import reported

SOURCE, TARGET = 11, 7
"""Numbers of tokens of the probe; they differ, so the shape of an attention shows its site."""

LARGEST_ERROR = 1e-6
_LARGEST_HALF_ERROR = 1e-2
_PROBED_ROWS = 3
"""Rows of a block of logits in the probe."""

_FARTHER = 4
"""Number of tokens by which a probe is longer than a window that it should show."""


@torch.inference_mode()
def examine(model: Any, kind: Kind, vocabulary: int, positions: int | None) -> Anatomy:
    """The checked attention of `model`, which is captured from then on.

    kind: if tokens of a decoder alone attend to later ones, the model is examined as an encoder.
    vocabulary: number of embeddings. positions: the most tokens, None without a limit.

    Raises `ModelDirectoryError`.
    """
    family = str(model.config.model_type)
    register()
    watch(model)
    inputs, body = probe(model, kind, vocabulary, positions), without_head(model, kind)
    with reported("cannot_run", family=family):
        model.set_attn_implementation("eager")
        reference = full_pass(body, Anatomy(kind), inputs, library=True)
        model.set_attn_implementation(CAPTURE)
        with returned_before_head(body) as returned:
            captured = full_pass(body, Anatomy(kind), inputs, record=True)
    reference = replace(reference, library=_attended(reference.library, captured))
    if reference.logits.whole().isnan().any():
        raise ModelDirectoryError("not_finite", family=family)
    if kind == Kind.DECODER_ONLY and looks_ahead(reference.library):
        return examine(model, Kind.ENCODER_ONLY, vocabulary, positions)
    anatomy = _anatomy(kind, captured, inputs, family)
    if anatomy is not None:
        _compare(anatomy, captured, reference, family, model.dtype)
    else:
        tokens = max(SOURCE, (window_of(model.config) or 0) + _FARTHER)
        longer = probe(model, kind, vocabulary, positions, tokens)
        with reported("cannot_run", family=family):
            model.set_attn_implementation("eager")
            own = full_pass(body, Anatomy(kind), longer, library=True).library
        anatomy = returned_anatomy(kind, own, longer, model)
    return replace(anatomy, head=_head(body, anatomy, inputs, captured, returned))


def _attended(returned: Returned, captured: Pass) -> Returned:
    """The returned weights of the layers whose attention was captured. Some families, such as
    MiniMax, return the states of their other layers among them, in the order of all layers."""
    own = dict(returned)
    for site, calls in (("encoder", captured.encoder), ("decoder", captured.decoder)):
        numbers = [getattr(call.module, "layer_idx", None) for call in calls]
        known = [number for number in numbers if number is not None]
        if len(known) == len(calls) < len(own.get(site, ())) and calls:
            own[site] = [own[site][number] for number in known if number < len(own[site])]
    return own


def difference(calls: Sequence[Call], library: Sequence[Tensor]) -> float:
    """Largest difference between captured weights and the library's for the same layers."""
    return max(
        (float((call.weights - own).abs().max()) for call, own in zip(calls, library, strict=True)),
        default=0.0,
    )


def by_site(places: Sequence[Place], calls: Sequence[Call]) -> dict[str, list[Call]]:
    """The calls of each site, in the order of its layers."""
    sites: dict[str, list[Call]] = {}
    for place, call in zip(places, calls, strict=True):
        sites.setdefault(place.site, []).append(call)
    return sites


def probe(
    model: Any, kind: Kind, vocabulary: int, positions: int | None, tokens: int = SOURCE
) -> Inputs:
    """Inputs of random ids, without special ones; at most `tokens` tokens."""
    config = model.config.get_text_config()
    names = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")
    special = [getattr(config, name, None) for name in names]
    ids = torch.tensor([number for number in range(vocabulary) if number not in special])
    generator = torch.Generator().manual_seed(0)
    longest = min(positions or tokens, tokens)

    def some(count: int) -> Tensor:
        return ids[torch.randint(len(ids), (1, min(count, longest)), generator=generator)]

    source = some(tokens)
    target = source if kind == Kind.DECODER_ONLY else some(min(TARGET, longest - 1))
    return Inputs(
        source=None if kind == Kind.DECODER_ONLY else source,
        source_mask=None if kind == Kind.DECODER_ONLY else torch.ones_like(source),
        target=None if kind == Kind.ENCODER_ONLY else target,
        target_mask=None if kind == Kind.ENCODER_ONLY else torch.ones_like(target),
    )


def _anatomy(kind: Kind, captured: Pass, probe: Inputs, family: str) -> Anatomy | None:
    """The captured calls as sites and layers, or None if a stack does not use the library's
    attention interface."""
    source = 0 if probe.source is None else probe.source.size(1)
    target = 0 if probe.target is None else probe.target.size(1)
    encoder = _places(captured.encoder, {(source, source): "encoder"}, family)
    shapes = {(target, target): "decoder", (target, source): "cross"}
    decoder = _places(captured.decoder, shapes, family)
    complete = (encoder or kind == Kind.DECODER_ONLY) and (decoder or kind == Kind.ENCODER_ONLY)
    return Anatomy(kind, encoder, decoder) if complete else None


def _places(
    calls: Sequence[Call], sites: dict[tuple[int, int], str], family: str
) -> tuple[Place, ...]:
    places: list[Place] = []
    for call in calls:
        _, heads, queries, keys = call.weights.shape
        site = sites.get((queries, keys))
        if site is None or len(call.weights) != 1:
            raise ModelDirectoryError("other_axes", family=family)
        layer = sum(place.site == site for place in places)
        number = getattr(call.module, "layer_idx", None)
        number = layer if number is None else number
        places.append(Place(site, layer, number, heads, call.value.size(-1)))
    shared = len({(place.site, place.number) for place in places}) < len(places)
    if shared:  # one module runs in several layers: its number is no layer number
        return tuple(replace(place, number=place.layer) for place in places)
    return tuple(places)


def _head(
    model: Any, anatomy: Anatomy, inputs: Inputs, whole: Pass, returned: Sequence[str]
) -> OutputHead:
    """The output head. It has a body if the logits of a few rows at a time equal those of `whole`.

    returned: paths of the modules that returned before the head was called.
    """
    width = whole.logits.width
    last = None if anatomy.weights_only else (whole.decoder or whole.encoder)[-1].module
    body = body_path(model, last, returned)
    if not body:
        return OutputHead(width)
    try:
        head = OutputHead(width, body, block=4 * width * _PROBED_ROWS)
        found = full_pass(model, anatomy, inputs, head=head).logits.whole()
    except Exception:  # the family's own code, which may need the whole output of its body
        return OutputHead(width)
    expected = whole.logits.whole()
    limit = LARGEST_ERROR if model.dtype == torch.float32 else _LARGEST_HALF_ERROR
    most = limit * max(1.0, float(expected.abs().max()))
    same = found.shape == expected.shape and float((found - expected).abs().max()) <= most
    return OutputHead(width, body if same else "")


def _without_sink(calls: Sequence[Call]) -> list[Tensor]:
    """The recomputed weights of `calls` as if there were no sink."""
    masked = (scores(call) if call.mask is None else scores(call) + call.mask for call in calls)
    return [one.softmax(-1, dtype=torch.float32) for one in masked]


def _compare(
    anatomy: Anatomy, captured: Pass, reference: Pass, family: str, dtype: torch.dtype
) -> None:
    limit = LARGEST_ERROR if dtype == torch.float32 else _LARGEST_HALF_ERROR
    sites = by_site(anatomy.encoder, captured.encoder) | by_site(anatomy.decoder, captured.decoder)
    for site, own in reference.library.items():
        calls = sites.get(site, [])
        if len(calls) != len(own):
            counts = {"captured": len(calls), "returned": len(own)}
            raise ModelDirectoryError("other_layers", family=family, site=site, **counts)
        heads = {call.weights.size(1) for call in calls}
        if len(heads) > 1:
            raise ModelDirectoryError("uneven_heads", family=family, site=site)
        computed = [recomputed(call) for call in calls]
        again = [weights for weights, _ in computed]
        errors = {"differs": difference(calls, own), "not_recomputed": difference(calls, again)}
        sinks = any(sink is not None for _, sink in computed)
        if sinks and errors["not_recomputed"] > limit >= difference(calls, _without_sink(calls)):
            raise ModelDirectoryError("without_sink", family=family, site=site)
        for key, error in errors.items():
            if not error <= limit:  # NaN fails as well
                raise ModelDirectoryError(key, family=family, site=site, error=f"{error:.1e}")
    logits, expected = captured.logits.whole(), reference.logits.whole()
    changed = float((logits - expected).abs().max())
    if not changed <= 1e-4 * max(1.0, float(expected.abs().max())):
        raise ModelDirectoryError("changes_result", family=family, error=f"{changed:.1e}")
