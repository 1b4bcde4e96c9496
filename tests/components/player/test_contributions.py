import numpy as np
import pandas as pd
import pytest

from explorer.components.player.contributions import attribution_payload, contributions_payload
from explorer.core.trace import Trace
from explorer.core.words import has_words, source_words, target_words
from explorer.heads.contributions.logit_attribution import LogitAttribution, logit_attribution
from tests.support.example_traces import example_trace, pieces_trace
from tests.support.payloads import unpack_payload


def numbers(trace: Trace) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Contributions in which each cell has a number of its own, and shares."""
    random = np.random.default_rng(3)
    layers = {}
    for site in trace.sites:
        count, _, queries, keys = trace.attention(site).shape
        layers[site] = random.dirichlet(np.ones(keys + 1), (count, queries))[..., :keys]
    return layers, random.random(len(trace.target_tokens))


@pytest.mark.parametrize("trace", [example_trace(), pieces_trace()])
def test_contributions_are_exact_to_the_fifth_digit(trace):
    layers, share = numbers(trace)
    _, arrays = unpack_payload(contributions_payload(trace, layers, share))
    for site, expected in layers.items():
        found = arrays[site].astype(np.float64).reshape(expected.shape) / 65535
        assert np.abs(found - expected).max() <= 7.7e-6
    np.testing.assert_allclose(arrays["source_share"], share, atol=1e-7)
    assert ("words" in arrays) == has_words(trace)


def test_those_of_words_sum_over_keys_and_average_over_the_pieces_that_predict():
    trace = pieces_trace()
    layers, share = numbers(trace)
    _, arrays = unpack_payload(contributions_payload(trace, layers, share))
    _, words = unpack_payload(arrays["words"].tobytes())
    queries, keys = target_words(trace), source_words(trace)
    expected = [
        [
            layers["cross"][0][row.start : row.stop, key.start : key.stop].sum(1).mean()
            for key in keys
        ]
        for row in queries
    ]
    found = words["cross"].reshape(-1, len(queries), len(keys))[0] / 65535
    np.testing.assert_allclose(found, expected, atol=1e-5)
    last = [word.stop - 1 for word in queries]  # its row predicts the first piece of the next word
    stops = [*last[1:], last[-1] + 1]
    means = [share[row:stop].mean() for row, stop in zip(last, stops, strict=True)]
    np.testing.assert_allclose(words["source_share"], means, atol=1e-6)


def test_leave_one_out_has_what_falls_and_how_often_others_agree():
    trace = pieces_trace()
    layers, share = numbers(trace)
    drops = {"cross": layers["cross"] * 9 - 1}
    share[0] = np.nan  # where nothing contributes
    data = contributions_payload(trace, layers, share, drops, {"alti": 3, "rollout": 1})
    header, arrays = unpack_payload(data)
    assert header["agreement"] == [["alti", 3], ["rollout", 1]]
    np.testing.assert_allclose(arrays["cross.drop"], drops["cross"].ravel(), atol=1e-5)
    assert arrays["source_share"][0] == 0
    _, words = unpack_payload(arrays["words"].tobytes())
    assert len(words["cross.drop"]) == len(layers["cross"]) * len(words["source_share"]) * len(
        source_words(trace)
    )


OTHERS = ("embedding", "feed_forward", "bias")


@pytest.fixture(params=[{}, {"force": {1: 4}}], ids=["decoded", "forced"])
def found(explorable, request) -> LogitAttribution:
    return logit_attribution(explorable, "1 2 3", pad_to=5, **request.param)


@pytest.fixture
def payload(found) -> tuple[dict, dict]:
    data = attribution_payload(found.parts, found.rest, found.difference, found.runner_up)
    return unpack_payload(data)


def test_each_head_has_its_part_at_each_step(found, payload):
    header, arrays = payload
    assert header["runner_up"] == list(found.runner_up)
    for site in ("decoder", "cross"):
        of_site = arrays[site].reshape(len(found.difference), *header["heads"][site])
        for row in found.parts[found.parts.site == site].itertuples():
            part = of_site[row.step - 1, row.layer, row.head]
            assert part == pytest.approx(row.value, rel=1e-6, abs=1e-7)


def test_heads_and_others_sum_to_the_difference(found, payload):
    header, arrays = payload
    steps = len(found.difference)
    heads = sum(arrays[site].reshape(steps, -1).sum(-1) for site in header["heads"])
    others = np.sum([arrays[name] for name in OTHERS], axis=0)
    np.testing.assert_allclose(others, found.remainder, atol=1e-5)
    np.testing.assert_allclose(heads + others, arrays["difference"], atol=1e-4)
    np.testing.assert_allclose(arrays["difference"], found.difference, rtol=1e-6)


def test_a_group_without_a_part_is_zero():
    parts = pd.DataFrame({"step": [1], "layer": [0], "site": ["cross"], "head": [0], "value": [2]})
    rest = pd.DataFrame({"step": [1], "layer": [0], "part": ["feed_forward"], "value": [0.5]})
    data = attribution_payload(parts, rest, np.array([2.5]), ["a"])
    header, arrays = unpack_payload(data)
    assert header["heads"] == {"cross": [1, 1]}
    assert {name: arrays[name].item() for name in (*OTHERS, "cross")} == {
        "embedding": 0,
        "feed_forward": 0.5,
        "bias": 0,
        "cross": 2,
    }
