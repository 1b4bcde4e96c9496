import numpy as np
import torch
from torch import nn

from explorer.heads.contributions.frozen_norm import FrozenNorm


def example() -> tuple[nn.LayerNorm, torch.Tensor]:
    torch.manual_seed(4)
    norm = nn.LayerNorm(6).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm, torch.randn(3, 5, 6, dtype=torch.float64)  # five summands of three queries


def test_what_summands_add_sums_to_the_layer_norm_of_their_sum():
    norm, summands = example()
    inputs = summands.sum(1)
    frozen = FrozenNorm.at(norm.weight.detach(), norm.bias.detach(), norm.eps, inputs)
    expected = norm(inputs).detach()
    torch.testing.assert_close(frozen.linear(inputs) + frozen.bias, expected)
    each = frozen.of(slice(1, 3)).linear(summands[1:3])
    torch.testing.assert_close(each.sum(1) + frozen.bias, expected[1:3])


def test_it_is_the_same_in_numpy_and_before_is_its_transpose():
    norm, summands = example()
    inputs, x = summands.sum(1).numpy(), summands[:, 0].numpy()
    weight, bias = norm.weight.detach().numpy(), norm.bias.detach().numpy()
    frozen = FrozenNorm.at(weight, bias, norm.eps, inputs)
    np.testing.assert_allclose(
        frozen.linear(inputs) + bias, norm(torch.from_numpy(inputs)).detach().numpy()
    )
    direction = summands[:, 1].numpy()
    moved = (frozen.linear(x) * direction).sum(-1)
    np.testing.assert_allclose((x * frozen.before(direction)).sum(-1), moved)
