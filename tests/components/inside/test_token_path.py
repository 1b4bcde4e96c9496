import numpy as np
import pytest
import torch

from explorer.components.inside.token_path import CANDIDATES, token_path
from explorer.core.errors import TraceError
from tests.support.example_traces import example_trace
from tests.support.payloads import unpack_payload


@pytest.fixture
def trace(explorable):
    return explorable.trace("1 2 3", pad_to=6, capture="full", layers=[0])


def unpacked(trace, site):
    header, arrays = unpack_payload(token_path(trace, site))
    rows = header["counts"]["queries"]
    return header, {name: array.reshape(rows, -1) for name, array in arrays.items()}


def near(got, expected):
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_each_part_of_the_path_follows_from_the_one_before(trace, explorable):
    for site, modules in [
        ("encoder", explorable.transformer.encoder),
        ("decoder", explorable.transformer.decoder),
        ("cross", explorable.transformer.decoder),
    ]:
        header, path = unpacked(trace, site)
        assert path["input"].shape[1] == explorable.transformer.config.d_model
        assert header["counts"]["keys"] == len(trace.keys(site))
        near(path["positions"], modules.embedding.positions[: len(path["positions"])])
        if site != "cross":
            near(path["input"], path["tokens"] + path["positions"])
            name = "self_attention"
        else:
            near(path["input"], trace.arrays["decoder.output"][0])
            name = "cross_attention"
        projection = getattr(modules.layers[0], name).output
        weight, bias = projection.weight.detach().numpy(), projection.bias.detach().numpy()
        near(path["projected"], path["heads"] @ weight.T + bias)
        near(path["output"], path["input"] + path["projected"])
        assert path["hidden"].shape[1] == explorable.transformer.config.d_ff
        assert (path["hidden"] >= 0).all()


def test_the_candidates_have_the_probabilities_of_the_steps(trace):
    header, path = unpacked(trace, "cross")
    steps = trace.steps().query(f"rank <= {CANDIDATES}")
    for row, labels in enumerate(header["candidates"]):
        own = steps[steps.step == row + 1]
        assert labels == own.token.tolist()
        near(np.exp(path["logits"][row] - path["sums"][row]), own.probability)


def test_probabilities_at_a_temperature_are_those_of_torch(trace):
    header, path = unpacked(trace, "cross")
    logits = torch.tensor(trace.arrays["logits"])
    for index, temperature in enumerate(header["temperatures"]):
        expected = (logits / temperature).softmax(-1)  # (T, V)
        best = trace.steps().query("rank == 1")
        shares = best.probability ** (1 / temperature) / path["tempered"][:, index]
        near(shares, expected[torch.arange(len(logits)), torch.tensor(best.id.to_numpy())])


def test_the_early_predictions_are_those_of_this_layer(trace):
    header, path = unpacked(trace, "decoder")
    table = trace.early_predictions()
    for row, (labels, shares) in enumerate(zip(header["early"], path["early"], strict=True)):
        own = table[table.step == row + 1]
        assert list(labels) == own.token.tolist()
        near(shares, own.probability)


def test_an_encoder_has_no_candidates(trace):
    header, path = unpacked(trace, "encoder")
    assert header["candidates"] == []
    assert "logits" not in path


def test_a_trace_of_weights_alone_has_no_path():
    with pytest.raises(TraceError, match="head_output"):
        token_path(example_trace(), "cross")
