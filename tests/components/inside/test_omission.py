import numpy as np

from explorer.components.inside.omission import omission
from tests.support.payloads import unpack_payload


def test_a_payload_has_the_weights_and_the_text_without_the_part(explorable):
    trace = explorable.trace("1 2 3", layers=[1], without=["mask"])
    header, arrays = unpack_payload(omission(trace, "decoder", 2))
    assert header["text"] == trace.text
    assert tuple(header["queries"]) == tuple(header["keys"]) == trace.target_tokens
    np.testing.assert_array_equal(arrays["weights"], trace.attention("decoder")[0, 2].ravel())
    assert not arrays["masked"].any()
