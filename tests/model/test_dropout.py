import pytest
import torch

from explorer.model.dropout import dropout


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_the_share_is_dropped_and_the_mean_stays(kind):
    torch.manual_seed(0)
    x = torch.ones(301, 333, dtype=kind, requires_grad=True)
    y = dropout(x, 0.3, training=True)
    assert y.dtype == kind
    assert (y == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    assert y.float().mean().item() == pytest.approx(1, abs=0.01)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_it_follows_the_seed_and_does_nothing_in_evaluation():
    x = torch.ones(5, 7)
    torch.manual_seed(1)
    first = dropout(x, 0.5, training=True)
    torch.manual_seed(1)
    assert torch.equal(dropout(x, 0.5, training=True), first)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
