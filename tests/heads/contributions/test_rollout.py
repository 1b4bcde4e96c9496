import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.heads.contributions import rollout
from explorer.heads.contributions.attention_sublayers import AttentionSublayer, attention_sublayers
from explorer.heads.contributions.rollout import (
    closeness,
    length,
    rolled_out,
    shares_of,
)

VECTORS = torch.tensor([[[3.0, 0], [0, 1], [-1, 0]]])  # one query, three keys
OUTPUT = torch.tensor([[2.0, 1]])


def sublayer(site: str, weights: Tensor, residual: Tensor) -> AttentionSublayer:
    """Pre-norm, one head whose values after W_O are the unit vectors of the keys."""
    keys, width = weights.size(1), residual.size(1)
    projected = torch.eye(keys, width)[None]
    total = residual + weights @ projected[0]
    bias = torch.zeros(width)
    return AttentionSublayer(site, 0, weights[None], projected, residual, bias, total, None)


def test_closeness_by_hand():
    """‖y‖₁ = 3; distances: |2−3| + |1−0| = 2, 2 + 0 = 2, 3 + 1 = 4."""
    assert closeness(VECTORS, OUTPUT).tolist() == [[1, 1, 0]]


def test_lengths_by_hand():
    assert length(VECTORS, OUTPUT).tolist() == [[3, 1, 1]]


def test_shares_of_self_attention_by_hand():
    """Query 0: 2·e0 of itself alone. Query 1: e0/4 and 3/4 e1 + its own e1, y = (1/4, 7/4)."""
    own = sublayer("decoder", torch.tensor([[1.0, 0], [0.25, 0.75]]), torch.eye(2))
    assert shares_of(own, closeness).tolist() == [[1, 0], [1 / 8, 7 / 8]]
    assert shares_of(own, length).tolist() == [[1, 0], [1 / 8, 7 / 8]]


def test_the_residual_connection_is_the_last_share_of_cross_attention():
    cross = sublayer("cross", torch.tensor([[0.5, 0.5]]), torch.tensor([[0.0, 0, 3]]))
    assert shares_of(cross, closeness).tolist() == [[1 / 8, 1 / 8, 6 / 8]]


def test_where_no_vector_brings_the_output_nearer_the_token_itself_contributes():
    zeros = torch.zeros(2, 2)
    own = sublayer("encoder", torch.tensor([[0.5, 0.5], [0.5, 0.5]]), zeros)
    nothing = lambda vectors, output: vectors.new_zeros(vectors.shape[:2])  # noqa: E731
    assert shares_of(own, nothing).tolist() == [[1, 0], [0, 1]]
    cross = sublayer("cross", torch.tensor([[0.5, 0.5]]), zeros[:1])
    assert shares_of(cross, nothing).tolist() == [[0, 0, 1]]


def test_one_layer_rolled_out_by_hand():
    """The encoder mixes its two tokens; the decoder takes half of the source and half of its own
    position, which at row 1 is a quarter of token 0."""
    encoder = torch.tensor([[0.5, 0.5], [0, 1]])
    decoder = torch.tensor([[1, 0], [0.25, 0.75]])
    cross = torch.tensor([[0.5, 0, 0.5], [0, 0.5, 0.5]])
    shares = [("encoder", encoder), ("decoder", decoder), ("cross", cross)]
    found = rolled_out((site, own.double()) for site, own in shares)
    assert found.tolist() == [[0.25, 0.25, 0.5, 0], [0, 0.5, 0.125, 0.375]]


@pytest.mark.parametrize("numbers", [1, 500])
def test_blocks_of_queries_change_nothing(make_model, monkeypatch, numbers):
    model = make_model()
    given = torch.tensor([[5, 9, 3, 12, 2]]), torch.tensor([[1, 16, 4, 7]])
    with torch.inference_mode():
        sublayers = attention_sublayers(model, *given)
        whole = [shares_of(one, closeness) for one in sublayers]
        monkeypatch.setattr(rollout, "LARGEST_BLOCK", numbers)
        blocks = [shares_of(one, closeness) for one in sublayers]
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
