"""The examples are those of the test of `equationDigits.ts`, so that both languages write alike."""

from dataclasses import asdict

import pytest

from explorer.core.printed_numbers import (
    Cell,
    PrintedCell,
    print_cell,
    printed,
    printed_power,
    printed_weight,
)
from tests.support.printed_equations import Equation, python_number
from tests.support.shared_examples import shared_examples

EXAMPLES = shared_examples("calculation")
CELLS = [(example["numbers"], example["texts"]) for example in EXAMPLES["cells"]]


@pytest.mark.parametrize(("value", "text"), EXAMPLES["power"])
def test_a_power_is_written_as_in_the_panel(value, text):
    assert printed_power(value).text == text


@pytest.mark.parametrize(("value", "text"), EXAMPLES["weight"])
def test_a_weight_is_written_as_in_the_panel(value, text):
    assert printed_weight(value).text == text


@pytest.mark.parametrize(("numbers", "texts"), CELLS)
def test_a_calculation_is_written_as_in_the_panel(numbers, texts):
    assert asdict(print_cell(Cell(**numbers))) == texts


@pytest.mark.parametrize(("numbers", "texts"), CELLS)
def test_each_example_is_true_as_it_is_printed(numbers, texts):
    number = {name: python_number(text) for name, text in texts.items()}
    if numbers["cap"] is None and numbers["width"] is not None:
        left = f"{number['product']} / sqrt({numbers['width']})"
        assert Equation(left, "=", texts["score"]).holds()
    if not numbers["masked"]:
        left = f"exp({number['score']} - {number['largest']})"
        assert Equation(left, "=", texts["power"]).holds()
        left = f"{number['power']} / {number['total']}"
        assert Equation(left, "=", texts["weight"]).holds()


def test_a_number_has_more_digits_until_it_has_six():
    texts = [printed(163.4567891, more).text for more in range(4)]
    assert texts == ["163.46", "163.457", "163.457", "163.457"]
    assert printed(0.00123456, 2).text == "0.00123"  # five decimals already
    assert printed(-0.001234567, 4).text == "−0.001235"


def test_the_exponent_has_the_largest_score_of_the_row_in_brackets_where_it_is_negative():
    texts = {"product": "", "power": "", "total": "", "weight": ""}
    assert PrintedCell(score="1.58", largest="2.31", **texts).exponent == "(1.58 − 2.31)"
    assert PrintedCell(score="−1.3", largest="−0.2", **texts).exponent == "(−1.3 − (−0.2))"
    assert PrintedCell(score="1.58", largest="−∞", **texts).exponent == "−∞"
