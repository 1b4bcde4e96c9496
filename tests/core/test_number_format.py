"""The examples are those of the test of `dom/js/numbers.ts`, so that both languages write alike."""

import math

import pytest

from explorer.core import number_format
from explorer.core.number_format import MOST_DIGITS, typed_number
from tests.support.shared_examples import shared_examples


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("7", 7), ("0042", 42), ("１２", 12), ("٣٠", 30), ("9" * MOST_DIGITS, 999_999_999)],
)
def test_decimal_digits_are_a_number(text, number):
    assert typed_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", " 1", "1 ", "-1", "+1", "1_0", "1.0", "1e3", "²", "④", "三", "x"),
        *("9" * (MOST_DIGITS + 1), "9" * 5000, "0" * 5000),
    ],
)
def test_anything_else_is_none(text):
    assert typed_number(text) is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (name, value, text)
        for name, pairs in shared_examples("number").items()
        for value, text in pairs
    ],
)
def test_numbers_are_written_as_in_the_components(name, value, text):
    written = getattr(number_format, name)(math.nan if value is None else value)
    assert written.replace("\u00a0", " ") == text


def test_a_percentage_is_not_broken_over_two_lines():
    assert " " not in number_format.percent(0.5) + number_format.percent(1e-9)


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        *((0.01140, "0.012"), (0.0056, "0.0056"), (0.00561, "0.0057"), (5.86, "5.9")),
        *((12.34, "12.4"), (0.0, "0"), (-1.0, "0"), (math.nan, "–")),
    ],
)
def test_a_bound_is_never_written_smaller_than_it_is(bound, text):
    assert number_format.at_most(bound) == text


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([0.86, -0.002], 2), ([0.04, 1e-9], 3), ([12.0], 2), ([0.0], 2), ([], 2), ([1e-12], 7)],
)
def test_the_decimals_of_a_column_are_those_its_largest_number_needs(values, decimals):
    assert number_format.common_decimals([*values, math.nan]) == decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.126, "+0.13"), (-0.126, "−0.13"), (-0.001, "0.00"), (0.001, "0.00"), (math.nan, "–")],
)
def test_a_fixed_number_keeps_its_decimals_and_zero_has_no_sign(value, text):
    assert number_format.fixed_number(value, 2, signed=True) == text
