import numpy as np
import pandas as pd
import pytest

from explorer.components.player.attribution import attribution_payload
from explorer.heads.contributions.logit_attribution import LogitAttribution, logit_attribution
from tests.support.payloads import unpack_payload

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
