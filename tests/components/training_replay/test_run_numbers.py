import math

import pytest

from explorer.components.training_replay.run_numbers import (
    finite_number,
    number_map,
    number_table,
)


@pytest.mark.parametrize("value", [None, "5", True, math.nan, math.inf, [1]])
def test_what_is_no_finite_number_is_none(value):
    assert finite_number(value) is None
    assert number_map({"a": value, "b": 2}) == {"a": None, "b": 2.0}
    assert number_table([[value, 1], 7]) == [[None, 1.0]]


def test_numbers_have_six_digits():
    assert finite_number(0.123456789) == 0.123457
    assert finite_number(3) == 3.0


def test_what_is_no_table_is_empty():
    assert number_map([1]) == {}
    assert number_table({"a": 1}) == []
