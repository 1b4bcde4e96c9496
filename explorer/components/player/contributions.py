"""Contributions as payloads, which the browser requests when a visitor chooses to see them: of each
key to each query, and of each head to the choice of each token."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.components.payload import pack_payload, payload_bytes
from explorer.components.player.weights import scale_of, weight_codes
from explorer.core.trace import Trace
from explorer.core.words import has_words, merged_weights, target_words, word_axes

if TYPE_CHECKING:
    import pandas as pd

Layers = Mapping[str, NDArray[np.floating]]
"""By site, (layer, query, key)."""

_GROUPS = {
    "embedding": ("token", "position", "embedding"),
    "feed_forward": ("feed_forward",),
    "bias": ("attention_bias", "norm_bias", "logit_bias"),
}
"""Groups of parts in the player, other than heads → the parts that are summed."""


def contributions_payload(
    trace: Trace,
    layers: Layers,
    source_share: NDArray[np.floating] | None,
    drops: Layers = MappingProxyType({}),
    agreement: Mapping[str, int] = MappingProxyType({}),
) -> bytes:
    """A payload of contributions.

    source_share: (T,) the part of the source in each output token; None where none is predicted.
    drops: of leave-one-out, the fall of ln p (nats).
    agreement: by method, number of rows with the same largest source token as leave-one-out.

    Header: "agreement", a list of [method, rows], the best first. Arrays: by site, codes as those
    of the weights of `trace`, (layer, query, key); "SITE.drop" float32; "source_share" float32
    (T,), 0 where it is NaN, if it is given; "words", if there are any, a payload of the same arrays
    merged into words.
    """
    arrays = _arrays(trace, layers, source_share, drops)
    if has_words(trace):
        axes = word_axes(trace)
        merged, fallen = (
            {site: merged_weights(of_site, *axes[site]) for site, of_site in numbers.items()}
            for numbers in (layers, drops)
        )
        share = None if source_share is None else _share_of_words(trace, source_share)
        words = _arrays(trace, merged, share, fallen)
        arrays["words"] = payload_bytes(pack_payload({}, words))
    header = {"agreement": [list(pair) for pair in agreement.items()]}
    return pack_payload(header, arrays)


def _arrays(
    trace: Trace, layers: Layers, source_share: NDArray[np.floating] | None, drops: Layers
) -> dict[str, NDArray[np.generic]]:
    arrays: dict[str, NDArray[np.generic]] = {
        site: weight_codes(of_site.astype(np.float32), scale_of(trace.attention(site)))
        for site, of_site in layers.items()
    }
    for site, of_site in drops.items():
        arrays[f"{site}.drop"] = of_site.astype(np.float32)
    if source_share is not None:
        arrays["source_share"] = np.nan_to_num(source_share.astype(np.float32))
    return arrays


def _share_of_words(trace: Trace, source_share: NDArray[np.floating]) -> NDArray[np.floating]:
    """For each word fed in, the mean over the pieces of the next word."""
    first = [word.stop - 1 for word in target_words(trace)]
    stops = [*first[1:], first[-1] + 1]  # the prediction of the last row is never fed in
    return np.array([source_share[row:stop].mean() for row, stop in zip(first, stops, strict=True)])


def attribution_payload(
    parts: "pd.DataFrame",
    rest: "pd.DataFrame",
    difference: NDArray[np.float64],
    runner_up: Sequence[str],
) -> bytes:
    """The logit difference between each token and the runner-up, as a sum of parts of the model.

    The arguments are those of `LogitAttribution`.

    Arrays, float32 in nats: "decoder" and "cross" (step, layer, head); "embedding", "feed_forward",
    "bias" and "difference" (step,). Header: "runner_up" labels, "heads" (layers, heads) by site.
    """
    steps = len(difference)
    arrays, heads = {"difference": difference}, {}
    for site, of_site in parts.groupby("site"):
        shape = (of_site.layer.nunique(), of_site["head"].nunique())
        in_order = of_site.sort_values(["step", "layer", "head"]).value
        arrays[str(site)], heads[str(site)] = in_order.to_numpy().reshape(steps, *shape), shape
    for name, summed in _GROUPS.items():
        of_group = rest[rest.part.isin(summed)].groupby("step").value.sum()
        arrays[name] = of_group.reindex(range(1, steps + 1), fill_value=0.0).to_numpy()
    header = {"runner_up": list(runner_up), "heads": heads}
    numbers = {name: array.astype(np.float32) for name, array in arrays.items()}
    return pack_payload(header, numbers)
