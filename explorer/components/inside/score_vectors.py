"""Parts of the queries and keys of one head, whose products sum to the score of each cell, as a
payload for the browser.

The browser multiplies each part of a query with each part of a key.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from explorer.components.shared.payload import pack_payload

Parts = Mapping[str, NDArray[np.float64]]
"""By part, (position, width)."""


def score_vectors(queries: Parts, keys: Parts, scale: float) -> bytes:
    """A payload of the parts; the arguments are those of `PartVectors`.

    Arrays, float32: "queries" (part, query, width) and "keys" (part, key, width). Header: the names
    "query_parts" and "key_parts", "width" and "scale".
    """
    arrays = {"queries": np.stack(list(queries.values())), "keys": np.stack(list(keys.values()))}
    header = {
        "query_parts": list(queries),
        "key_parts": list(keys),
        "width": arrays["queries"].shape[-1],
        "scale": scale,
    }
    numbers = {name: array.astype(np.float32) for name, array in arrays.items()}
    return pack_payload(header, numbers)
