import numpy as np

from explorer.components.player.weight_codes import LARGEST_CODE, scale_of, weight_codes


def test_codes_are_linear_and_exact_to_a_fraction_of_a_hundred_thousandth():
    weights = np.random.default_rng(1).random((3, 40, 50), np.float32)
    weights[0, 0, :2] = 0, 1
    codes = weight_codes(weights, scale_of(weights))
    assert codes.dtype == np.uint16
    assert np.abs(codes / LARGEST_CODE - weights).max() <= 7.7e-6
    assert codes[0, 0, :2].tolist() == [0, LARGEST_CODE]


def test_the_largest_code_stands_for_a_weight_above_1():
    weights = np.array([[0.5, 2.0]], np.float32)
    assert scale_of(weights) == 2
    assert weight_codes(weights, 2.0).tolist() == [[16384, LARGEST_CODE]]
