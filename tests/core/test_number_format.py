"""The examples are those of the test of `numbers.js`, so that both languages write alike."""

import json
import math
from pathlib import Path

import pytest

from explorer.core import number_format

EXAMPLES = json.loads(
    (Path(__file__).parents[1] / "support" / "number_examples.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [(name, value, text) for name, pairs in EXAMPLES.items() for value, text in pairs],
)
def test_numbers_are_written_as_in_the_components(name, value, text):
    written = getattr(number_format, name)(math.nan if value is None else value)
    assert written.replace("\u00a0", " ") == text


def test_a_percentage_is_not_broken_over_two_lines():
    assert " " not in number_format.percent(0.5) + number_format.percent(1e-9)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0156, "1.6"), (-0.5, "−50.0"), (math.nan, "–"), (math.inf, "–")]
)
def test_a_difference_of_shares_is_in_points(value, text):
    assert number_format.points(value) == text
