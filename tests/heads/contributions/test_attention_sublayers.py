import math
from dataclasses import replace

import pytest
import torch

from explorer.heads.contributions.attention_sublayers import attention_sublayers
from tests.support.tiny_configs import PRIMES

SOURCE, TARGET = torch.tensor([[5, 9, 3, 12, 2]]), torch.tensor([[1, 16, 4, 7, 4, 11]])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_vectors_and_the_biases_sum_to_the_output_of_every_attention(make_model, norm):
    model = make_model(replace(PRIMES, norm=norm))
    found = attention_sublayers(model, SOURCE, TARGET)
    assert [(one.site, one.layer) for one in found] == model.config.attentions
    for one in found:
        rows = slice(None)
        vectors, constant = one.vectors(rows), one.constant(rows)
        more = 1 if one.site == "cross" else 0
        assert vectors.shape == (len(one.output), one.weights.size(-1) + more, 42)
        torch.testing.assert_close(vectors.sum(1) + constant, one.output, rtol=0, atol=1e-5)
        some = slice(2, 4)
        torch.testing.assert_close(one.vectors(some), vectors[some], rtol=0, atol=1e-6)
        torch.testing.assert_close(one.constant(some), constant[some], rtol=0, atol=1e-6)


def test_a_later_position_adds_nothing(make_model):
    (own,) = [
        one
        for one in attention_sublayers(make_model(), SOURCE, TARGET)
        if (one.site, one.layer) == ("decoder", 1)
    ]
    added = own.added(slice(None))
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    assert float(added[later].abs().max()) == 0
    assert float(added[~later].abs().amin(-1).max()) > 0


def test_the_output_is_that_of_the_layer_norm_with_post_norm(make_model):
    """LayerNorm from its definition, on the last attention of the decoder."""
    model = make_model(replace(PRIMES, norm="post"))
    last = attention_sublayers(model, SOURCE, TARGET)[-1]
    norm = model.decoder.layers[-1].around_cross_attention
    total = (last.added(slice(None)).sum(1) + last.residual + last.bias)[3].tolist()
    mean = sum(total) / 42
    scale = math.sqrt(sum((x - mean) ** 2 for x in total) / 42 + 1e-5)
    expected = [
        (x - mean) / scale * g + b
        for x, g, b in zip(total, norm.weight.tolist(), norm.bias.tolist(), strict=True)
    ]
    assert last.output[3].tolist() == pytest.approx(expected, abs=1e-5)
