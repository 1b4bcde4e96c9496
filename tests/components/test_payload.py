import json
import math
import struct

import numpy as np

from explorer.components.payload import finite, pack_payload, payload_bytes
from tests.support.payloads import unpack_payload


def test_arrays_are_aligned_and_read_back_unchanged():
    arrays = {
        "codes": np.array([1, 2, 3], np.uint16),
        "flags": np.array([True, False, True], np.bool_).astype(np.uint8),
        "big": np.array([1.5, -2.5], ">f4"),
    }
    header, found = unpack_payload(pack_payload({"name": "é"}, arrays))
    assert header["name"] == "é"
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert [header["arrays"][name]["start"] for name in arrays] == [0, 8, 12]


def test_a_payload_can_be_packed_into_another():
    inner = pack_payload({"level": 2}, {"one": np.arange(3, dtype=np.uint32)})
    _, found = unpack_payload(pack_payload({"level": 1}, {"inner": payload_bytes(inner)}))
    header, arrays = unpack_payload(found["inner"].tobytes())
    assert header["level"] == 2
    assert arrays["one"].tolist() == [0, 1, 2]


def test_numbers_that_json_cannot_express_become_null():
    value = {"a": [1.0, math.nan], "b": (math.inf,), 3: np.float32(0.5), "c": np.float64("-inf")}
    assert finite(value) == {"a": [1.0, None], "b": [None], "3": 0.5, "c": None}
    assert json.loads(json.dumps(finite(value), allow_nan=False))


def test_half_a_surrogate_pair_is_replaced():
    data = pack_payload({"author": "\ud83d"}, {})
    (length,) = struct.unpack_from("<I", data)
    assert json.loads(data[4 : 4 + length])["author"] == "?"
