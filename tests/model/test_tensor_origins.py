"""What tensors are projected from and which are products, followed through functions of torch."""

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from explorer.model.tensor_origins import TensorOrigins

WIDTH = 4


class Following(TorchFunctionMode):
    def __init__(self, module):
        super().__init__()
        self.origins = TensorOrigins(module)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **kwargs or {})
        self.origins.follow(function, result, [*args, *(kwargs or {}).values()])
        return result


@pytest.fixture
def module():
    return nn.ModuleDict(
        {"one": nn.Linear(WIDTH, WIDTH), "two": nn.Linear(WIDTH, WIDTH), "norm": nn.RMSNorm(WIDTH)}
    )


def test_views_norms_and_rotations_keep_what_a_projection_has_read(module):
    x, y, turn = torch.randn(5, WIDTH), torch.randn(5, WIDTH), torch.randn(5, 2)
    with Following(module) as mode:
        query = module["one"](module["norm"](x)).view(5, 2, 2).transpose(0, 1)
        query = query * turn + query.flip(-1) * turn
        key = module["two"](x + y)
        later = module["two"](x + query.transpose(0, 1).flatten(1))
    assert mode.origins.read_by(query) is x
    assert mode.origins.read_by(key) is not x  # the sum is an activation of its own
    assert mode.origins.read_by(later) is not x
    assert mode.origins.read_by(y) is y


def test_only_a_product_of_two_activations_is_one_until_it_is_mixed_with_values(module):
    x = torch.randn(5, WIDTH)
    with Following(module) as mode:
        query, key = module["one"](x), module["two"](x)
        scores = (query @ key.T) / 2
        masked = torch.where(torch.ones(5, 5).tril() > 0, scores, -1e9) + torch.zeros(5, 5)
        logits = x @ module["one"].weight.T
    product = mode.origins.product(masked)
    assert product.query is product.key is x
    torch.testing.assert_close(product.unmasked, scores)
    assert mode.origins.product(logits) is None
    assert mode.origins.product(query) is None
    assert mode.origins.product(module["one"].weight) is None
