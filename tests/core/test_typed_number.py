import pytest

from explorer.core.typed_number import MOST_DIGITS, typed_number


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
