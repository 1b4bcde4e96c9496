"""The payload format: a JSON header followed by arrays, as one run of bytes.

    uint32, little endian      length of the header, a multiple of 4
    header                     JSON, UTF-8, padded with spaces;
                               "arrays": name → {"type", "start", "length"}
    arrays                     little endian, each starting at a multiple of 4 bytes

"start" counts bytes from the end of the header, "length" counts elements. An array of uint8 may
hold a payload itself. `page/js/envelope.ts` reads the format.
"""

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.version import __version__

PROJECT = f"Attention explorer {__version__}"
"""Name at the foot of a saved figure."""


def pack_payload(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Header and arrays in the format above; numbers that JSON cannot express become null."""
    index, body = _lay_out(arrays)
    content = finite({**header, "arrays": index})
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    head = text.encode("utf-8", errors="replace")
    head += b" " * (-len(head) % 4)
    return struct.pack("<I", len(head)) + head + body


def payload_bytes(payload: bytes) -> NDArray[np.uint8]:
    """A payload as an array, to be packed into another payload."""
    return np.frombuffer(payload, dtype=np.uint8)


def finite(value: Any) -> Any:
    """`value` as JSON data, with None for NaN and infinities, at any depth."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, np.generic):
        return finite(value.item())
    return value


def _lay_out(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, dict[str, Any]], bytes]:
    """Position of each array, and all arrays one after the other."""
    index: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    start = 0
    for name, array in arrays.items():
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        data += b"\0" * (-len(data) % 4)
        index[name] = {"type": array.dtype.name, "start": start, "length": array.size}
        parts.append(data)
        start += len(data)
    return index, b"".join(parts)
