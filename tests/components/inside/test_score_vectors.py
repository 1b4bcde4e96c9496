import numpy as np

from explorer.components.inside.score_vectors import score_vectors
from tests.support.payloads import unpack_payload


def test_the_parts_of_all_positions_are_sent_with_their_names():
    random = np.random.default_rng(2)
    queries = {name: random.normal(size=(3, 4)) for name in ("token", "cross.0", "bias")}
    keys = {name: random.normal(size=(2, 4)) for name in ("token", "bias")}
    header, arrays = unpack_payload(score_vectors(queries, keys, 0.5))
    assert (header["query_parts"], header["key_parts"]) == ([*queries], [*keys])
    assert (header["width"], header["scale"]) == (4, 0.5)
    for name, parts in (("queries", queries), ("keys", keys)):
        expected = np.stack([*parts.values()])
        np.testing.assert_allclose(arrays[name].reshape(expected.shape), expected, rtol=1e-6)
