import numpy as np
import pytest
import torch
from torch import nn

from explorer.core.errors import ConfigError
from explorer.heads.contributions.frozen_norm import frozen_norm, in_float32


def example() -> tuple[nn.LayerNorm, torch.Tensor]:
    torch.manual_seed(4)
    norm = nn.LayerNorm(6).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm, torch.randn(3, 5, 6, dtype=torch.float64)  # five summands of three queries


def test_what_summands_add_sums_to_the_layer_norm_of_their_sum():
    norm, summands = example()
    inputs = summands.sum(1)
    expected = norm(inputs).detach()
    frozen = in_float32(frozen_norm(norm, inputs.numpy(), expected.numpy()))
    summands, inputs, expected = summands.float(), inputs.float(), expected.float()
    torch.testing.assert_close(frozen.linear(inputs) + frozen.bias, expected)
    each = frozen.of(slice(1, 3)).linear(summands[1:3])
    torch.testing.assert_close(each.sum(1) + frozen.bias, expected[1:3])


def test_it_is_the_same_in_numpy_and_before_is_its_transpose():
    norm, summands = example()
    inputs, x = summands.sum(1).numpy(), summands[:, 0].numpy()
    expected = norm(torch.from_numpy(inputs)).detach().numpy()
    frozen = frozen_norm(norm, inputs, expected)
    np.testing.assert_allclose(frozen.linear(inputs) + frozen.bias, expected)
    direction = summands[:, 1].numpy()
    moved = (frozen.linear(x) * direction).sum(-1)
    np.testing.assert_allclose((x * frozen.before(direction)).sum(-1), moved)


@pytest.mark.parametrize("extra", [0, 1])
def test_an_rms_norm_is_known_by_what_it_makes_of_its_input(extra):
    """Zhang & Sennrich 2019; some families multiply by 1 + weight."""
    _, summands = example()
    inputs = summands.sum(1)
    norm = nn.RMSNorm(6).double()
    nn.init.normal_(norm.weight)
    scaled = inputs / (inputs.pow(2).mean(-1, keepdim=True) + torch.finfo(torch.float64).eps).sqrt()
    expected = (scaled * (extra + norm.weight)).detach().numpy()
    frozen = frozen_norm(norm, inputs.numpy(), expected)
    assert not frozen.centres
    np.testing.assert_allclose(frozen.linear(inputs.numpy()), expected)


def test_another_norm_is_refused():
    norm, summands = example()
    inputs = summands.sum(1).numpy()
    with pytest.raises(ConfigError, match="LayerNorm"):
        frozen_norm(norm, inputs, inputs**2)
