"""What the weights of one head are computed from, as a payload for the browser.

The browser computes a cell from it: product of query and key, scale, cap, bias, mask, softmax.
"""

import gzip

import numpy as np
from numpy.typing import NDArray

from explorer.components.shared.payload import pack_payload
from explorer.core.trace import Trace

_FAST = 1  # level of compression: somebody waits for the answer
_NO_BIAS = 1e-3
"""The largest difference between captured and computed scores that is rounding, relative to the
largest score."""


def has_vectors(trace: Trace, site: str) -> bool:
    """Whether the attention of `site` was captured in full."""
    return f"{site}.score_scale" in trace.arrays and f"{site}.scores" in trace.arrays


def head_vectors(trace: Trace, site: str, layer: int, head: int) -> bytes:
    """The vectors of one head of a trace with full capture, a payload compressed with gzip.

    layer: counted among those that the trace has.

    Arrays, float32: "queries" (query, width), "keys" and "values" (key, width), and "bias" (query,
    key), what the model adds to the scaled products, if it adds anything, and "sink" (query,), the
    weight that goes to no key. Header: "width", that of queries and keys, "scale", and "cap", the
    largest score, None without one.

    Raises `TraceError` where the trace has only weights.
    """
    queries, keys = trace.query_vectors(site)[layer, head], trace.key_vectors(site)[layer, head]
    scale = float(trace.arrays[f"{site}.score_scale"][layer])
    caps = trace.arrays.get(f"{site}.score_cap")
    cap = None if caps is None else float(caps[layer])
    arrays = {"queries": queries, "keys": keys, "values": trace.values(site)[layer, head]}
    bias = trace.scores(site)[layer, head] - _scores(queries, keys, scale, cap)
    largest = max(1.0, float(np.abs(trace.scores(site)[layer, head]).max(initial=0)))
    if np.abs(bias).max(initial=0) > _NO_BIAS * largest:
        arrays["bias"] = bias
    if (sink := trace.arrays.get(f"{site}.sink")) is not None:
        arrays["sink"] = sink[layer, head]
    header = {"width": queries.shape[-1], "scale": scale, "cap": cap}
    return gzip.compress(pack_payload(header, arrays), compresslevel=_FAST, mtime=0)


def _scores(
    queries: NDArray[np.float32], keys: NDArray[np.float32], scale: float, cap: float | None
) -> NDArray[np.float32]:
    """Scores (query, key) before bias and mask."""
    scores = queries @ keys.T * scale
    return scores if cap is None else np.tanh(scores / cap) * cap
