"""Contribution of each key to each query, as a payload for the browser, which requests it when a
visitor chooses to see it."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.components.player.weights import scale_of, weight_codes
from explorer.components.shared.payload import pack_payload, payload_bytes
from explorer.core.trace import Trace
from explorer.core.words import has_words, merged_weights, target_words, word_axes

Layers = Mapping[str, NDArray[np.floating]]
"""By site, (layer, query, key)."""


def contributions_payload(
    trace: Trace,
    layers: Layers,
    source_share: NDArray[np.floating],
    drops: Layers = MappingProxyType({}),
    agreement: Mapping[str, int] = MappingProxyType({}),
) -> bytes:
    """A payload of contributions.

    source_share: (T,) the part of the source in each output token.
    drops: of leave-one-out, the fall of ln p (nats).
    agreement: by method, number of rows with the same largest source token as leave-one-out.

    Header: "agreement", a list of [method, rows], the best first. Arrays: by site, codes as those
    of the weights of `trace`, (layer, query, key); "SITE.drop" float32; "source_share" float32
    (T,), 0 where it is NaN; "words", if there are any, a payload of the same arrays merged into
    words.
    """
    arrays = _arrays(trace, layers, source_share, drops)
    if has_words(trace):
        axes = word_axes(trace)
        merged, fallen = (
            {site: merged_weights(of_site, *axes[site]) for site, of_site in numbers.items()}
            for numbers in (layers, drops)
        )
        words = _arrays(trace, merged, _share_of_words(trace, source_share), fallen)
        arrays["words"] = payload_bytes(pack_payload({}, words))
    header = {"agreement": [list(pair) for pair in agreement.items()]}
    return pack_payload(header, arrays)


def _arrays(
    trace: Trace, layers: Layers, source_share: NDArray[np.floating], drops: Layers
) -> dict[str, NDArray[np.generic]]:
    arrays: dict[str, NDArray[np.generic]] = {
        site: weight_codes(of_site.astype(np.float32), scale_of(trace.attention(site)))
        for site, of_site in layers.items()
    }
    for site, of_site in drops.items():
        arrays[f"{site}.drop"] = of_site.astype(np.float32)
    share = np.nan_to_num(source_share.astype(np.float32))
    return arrays | {"source_share": share}


def _share_of_words(trace: Trace, source_share: NDArray[np.floating]) -> NDArray[np.floating]:
    """For each word fed in, the mean over the pieces of the next word."""
    first = [word.stop - 1 for word in target_words(trace)]
    stops = [*first[1:], first[-1] + 1]  # the prediction of the last row is never fed in
    return np.array([source_share[row:stop].mean() for row, stop in zip(first, stops, strict=True)])
