"""The numbers of a calculation with the fewest digits with which it is true as it is printed.

What stands to the right of a sign "=" is what the numbers to its left give, within half a unit of
its last digit. The panel *Inside* writes by the same rules (`inside/js/numbers.js` and
`inside/js/equationDigits.js`), so that a lesson names the numbers on screen.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import product

_DIGITS = 6
"""At most, where more are asked for."""
_PLAIN = 0.001, 10_000
"""From and below: other powers are written with a power of ten."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MORE = range(5)
_PAIRS = sorted(product(_MORE, repeat=2), key=sum)
_HALF = 0.49999
"""Of a unit, and no tie, which some round up and others down."""
_FEWEST = 3
"""Digits of a scale."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it is printed. value: what the text says. unit: of the last digit; 0 where the
    text is exact."""

    text: str
    value: float
    unit: float

    def follows(self, result: float) -> bool:
        """Whether it is `result`, within half a unit."""
        return abs(result - self.value) <= _HALF * self.unit


@dataclass(frozen=True, slots=True)
class Cell:
    """The numbers from which the weight of a cell is computed.

    product: of query and key.
    scale: by which it is multiplied. width: where that is to divide by √width, else None.
    cap: the largest score; None without one. bias: what is added, 0 without one.
    largest: score of the unmasked keys of the row; total: of e to their scores less the largest.
    """

    product: float
    scale: float
    width: int | None
    cap: float | None
    bias: float
    score: float
    largest: float
    total: float
    masked: bool = False


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """e^(score − largest) = power, and power ÷ total = weight."""

    product: str
    score: str
    largest: str
    power: str
    total: str
    weight: str

    @property
    def exponent(self) -> str:
        """To which e is raised."""
        if self.largest == "−∞":
            return self.largest
        return f"({self.score} − {_bracketed(self.largest)})"


def printed(value: float, more: int = 0) -> Printed:
    """A number with two decimals and `more`, or as many as it needs near zero."""
    size = abs(value)
    least = 2 if size >= 0.1 or size < 5e-6 else 3 if size >= 0.01 else 5
    return _fixed(value, max(least, min(2 + more, _DIGITS - 1 - _exponent(value))))


def printed_power(value: float, more: int = 0) -> Printed:
    """A power of e, or a sum of such powers: two decimals or, where it is small, two digits."""
    if value in (0, 1):
        return Printed(f"{value:.0f}", value, 0)
    if value == math.inf:
        return Printed("∞", value, 0)
    if not _PLAIN[0] <= value < _PLAIN[1]:
        return _scientific(value, min(1 + more, _DIGITS - 1))
    least = max(2, 1 - _exponent(value))
    return _fixed(value, max(least, min(least + more, _DIGITS - 1 - _exponent(value))))


def printed_weight(weight: float) -> Printed:
    """A weight without a leading zero, with as many decimals, up to five, as tell it from 0 and
    1."""
    if weight < _PLAIN[0] or weight == 1:
        return printed_power(weight)
    for decimals in range(2, _DIGITS):
        found = _fixed(weight, decimals)
        if 0 < found.value < 1:
            return Printed(found.text[1:], found.value, found.unit)
    return _fixed(weight, 2)


def print_cell(cell: Cell) -> PrintedCell:
    """The calculation of a cell; with the fewest digits of all where six do not suffice."""
    for scores, powers in _PAIRS:
        found, holds = _cell_with(cell, scores, powers)
        if holds:
            return found
    return _cell_with(cell, 0, 0)[0]


def _cell_with(cell: Cell, scores: int, powers: int) -> tuple[PrintedCell, bool]:
    """The calculation with more digits of scores and of powers, and whether it holds."""
    score, total = printed(cell.score, scores), printed_power(cell.total, powers)
    of_key, scaled = _scaled(cell, score)
    if cell.masked:
        total = printed_power(cell.total)
        return PrintedCell(of_key.text, score.text, "−∞", "0", total.text, "0"), scaled
    exact = math.exp(cell.score - cell.largest)
    largest, power = printed(cell.largest, scores), printed_power(exact, powers)
    weight = printed_weight(exact / cell.total)
    raised = power.follows(math.exp(score.value - largest.value))
    shared = weight.follows(power.value / total.value)
    numbers = (of_key, score, largest, power, total, weight)
    return PrintedCell(*(number.text for number in numbers)), scaled and raised and shared


def _scaled(cell: Cell, score: Printed) -> tuple[Printed, bool]:
    """The product, and whether the printed score is what becomes of it."""
    for number, made in _scores_of_product(cell):
        if score.follows(made):
            return number, True
    return printed(cell.product), False


def _scores_of_product(cell: Cell) -> Iterator[tuple[Printed, float]]:
    """The product with more and more digits, and what is computed from it as it is printed."""
    for more in _MORE:
        number, bias = printed(cell.product, more), printed(cell.bias, more)
        if cell.width is not None:
            scaled = number.value / math.sqrt(cell.width)
        else:
            scaled = number.value * _with_digits(cell.scale, min(_FEWEST + more, _DIGITS))
        if cell.cap is not None:
            limit = _with_digits(cell.cap, _DIGITS)
            scaled = limit * math.tanh(scaled / limit)
        yield number, scaled + bias.value


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith("−") else text


def _exponent(value: float) -> int:
    """Of a number as a power of ten: 2 of 163.4."""
    return Decimal(repr(float(value))).adjusted()


def _rounded(value: float, exponent: int) -> Decimal:
    """To a multiple of that power of ten; a half is rounded up in size, as JavaScript does."""
    return Decimal(float(value)).quantize(Decimal(1).scaleb(exponent), ROUND_HALF_UP)


def _with_digits(value: float, digits: int) -> float:
    return float(_rounded(value, _exponent(value) - digits + 1))


def _fixed(value: float, decimals: int) -> Printed:
    rounded = _rounded(value, -decimals)
    text = f"{rounded if rounded else abs(rounded):f}"
    return Printed(text.replace("-", "−"), float(text), 10.0**-decimals)


def _scientific(value: float, decimals: int) -> Printed:
    """With so many decimals and a power of ten."""
    rounded = _rounded(value, _exponent(value) - decimals)
    exponent = rounded.adjusted()
    digits = rounded.scaleb(-exponent).quantize(Decimal(1).scaleb(-decimals))
    text = f"{digits}·10{str(exponent).translate(_RAISED)}"
    return Printed(text, float(rounded), 10.0 ** (exponent - decimals))
