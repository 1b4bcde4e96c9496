"""The numbers of a calculation, printed with the fewest digits for which it is still correct.

The number right of a sign "=" equals the result of the printed numbers left of it, within half a
unit of its last digit. The panel *Inside* follows the same rules (`inside/js/printedNumbers.ts` and
`inside/js/equationDigits.ts`), so a lesson names the numbers on screen.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from explorer.core.number_format import calculated_decimals, rounded

_DIGITS = 6
"""Most digits, even if more are asked for."""
_PLAIN = 0.001, 10_000
"""Powers from the first number to below the second are written without a power of ten."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MORE = range(5)
_PAIRS = sorted(product(_MORE, repeat=2), key=sum)
_HALF = 0.49999
"""Allowed difference in units: just below a half, because ties are rounded differently."""
_FEWEST = 3
"""Fewest digits of a scale."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it is printed.

    value: the number that the text states. unit: of the last digit; 0 if the text is exact.
    """

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
    scale: its factor. width: set if the scale is 1 / √width, else None.
    cap: the largest score; None without one. bias: is added to the score; 0 without one.
    largest: largest score of the unmasked keys of the row. total: sum of e^(score − largest) over
        these keys.
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
        """The exponent: score − largest."""
        if self.largest == "−∞":
            return self.largest
        return f"({self.score} − {_bracketed(self.largest)})"


def printed(value: float, more: int = 0) -> Printed:
    """A number with 2 + `more` decimals, or with as many as it needs near zero."""
    least = calculated_decimals(value)
    return _fixed(value, max(least, min(2 + more, _DIGITS - 1 - _exponent(value))))


def printed_power(value: float, more: int = 0) -> Printed:
    """A power of e, or a sum of such powers: two decimals or, if it is small, two digits."""
    if value in (0, 1):
        return Printed(f"{value:.0f}", value, 0)
    if value == math.inf:
        return Printed("∞", value, 0)
    if not _PLAIN[0] <= value < _PLAIN[1]:
        return _scientific(value, min(1 + more, _DIGITS - 1))
    least = max(2, 1 - _exponent(value))
    return _fixed(value, max(least, min(least + more, _DIGITS - 1 - _exponent(value))))


def printed_weight(weight: float) -> Printed:
    """A weight without a leading zero; with the fewest decimals, two to five, that show it is not 0
    or 1."""
    if weight < _PLAIN[0] or weight == 1:
        return printed_power(weight)
    for decimals in range(2, _DIGITS):
        found = _fixed(weight, decimals)
        if 0 < found.value < 1:
            return Printed(found.text[1:], found.value, found.unit)
    return _fixed(weight, 2)


def print_cell(cell: Cell) -> PrintedCell:
    """The calculation of a cell; with the fewest digits if even the most do not suffice."""
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
    """The printed product, and whether the printed score follows from it."""
    for number, made in _scores_of_product(cell):
        if score.follows(made):
            return number, True
    return printed(cell.product), False


def _scores_of_product(cell: Cell) -> Iterator[tuple[Printed, float]]:
    """The product with more and more digits, and the score computed from each printed form."""
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
    """Exponent of a number in powers of ten: 2 for 163.4."""
    return Decimal(repr(float(value))).adjusted()


def _with_digits(value: float, digits: int) -> float:
    return float(rounded(value, _exponent(value) - digits + 1))


def _fixed(value: float, decimals: int) -> Printed:
    number = rounded(value, -decimals)
    text = f"{number if number else abs(number):f}"
    return Printed(text.replace("-", "−"), float(text), 10.0**-decimals)


def _scientific(value: float, decimals: int) -> Printed:
    """The value with `decimals` decimals and a power of ten."""
    number = rounded(value, _exponent(value) - decimals)
    exponent = number.adjusted()
    digits = number.scaleb(-exponent).quantize(Decimal(1).scaleb(-decimals))
    text = f"{digits}·10{str(exponent).translate(_RAISED)}"
    return Printed(text, float(number), 10.0 ** (exponent - decimals))
