"""Inputs of the weights of one head, as a payload for the browser.

The browser computes a cell from them: product of query and key, scale, cap, bias, mask, softmax.
"""

from explorer.components.shared.payload import pack_payload
from explorer.core.head_scores import head_scores
from explorer.core.trace import Trace


def head_vectors(trace: Trace, site: str, layer: int, head: int) -> bytes:
    """The vectors of one head of a trace with full capture, as a payload.

    layer: index among the layers of the trace.

    Arrays, float32: "queries" (query, width), "keys" and "values" (key, width), and "bias" (query,
    key), what the model adds to the scaled products, if it adds anything, and "sink" (query,), the
    weight that goes to no key. Header: "width", that of queries and keys, "scale", and "cap", the
    largest score, None without one.

    Raises `TraceError` if the trace has only weights.
    """
    queries, keys = trace.query_vectors(site)[layer, head], trace.key_vectors(site)[layer, head]
    made = head_scores(trace, site, layer, head)
    arrays = {"queries": queries, "keys": keys, "values": trace.values(site)[layer, head]}
    if made.bias is not None:
        arrays["bias"] = made.bias
    if (sink := trace.arrays.get(f"{site}.sink")) is not None:
        arrays["sink"] = sink[layer, head]
    header = {"width": made.width, "scale": made.scale, "cap": made.cap}
    return pack_payload(header, arrays)
