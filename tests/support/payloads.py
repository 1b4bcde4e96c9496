"""A second reading of the payload format, independent of the one in the browser."""

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray


def unpack_payload(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays."""
    (length,) = struct.unpack_from("<I", data)
    assert length % 4 == 0
    header = json.loads(data[4 : 4 + length])
    body = data[4 + length :]
    entries = header["arrays"]
    assert all(entry["start"] % 4 == 0 for entry in entries.values())
    return header, {
        name: np.frombuffer(body, entry["type"], entry["length"], entry["start"])
        for name, entry in entries.items()
    }
