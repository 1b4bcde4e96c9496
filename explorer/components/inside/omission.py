"""The weights and decoded output of a head in a model without one of its parts, as a payload."""

from explorer.components.shared.payload import pack_payload
from explorer.core.trace import Trace


def omission(trace: Trace, site: str, head: int) -> bytes:
    """One head in the first layer of a trace, as a payload.

    Arrays: "weights" float32 and "masked" uint8 codes, both (query, key). Header: labels of the
    "queries" and "keys", and the decoded "text".
    """
    arrays = {"weights": trace.attention(site)[0, head], "masked": trace.closed(site, 0, head)}
    header = {"queries": trace.queries(site), "keys": trace.keys(site), "text": trace.text}
    return pack_payload(header, arrays)
