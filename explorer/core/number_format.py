"""Numbers as text: how they are written on screen, by the same rules as `dom/js/numbers.ts`
of the components, and read from what a person types.

Files and tables of the API keep all digits.
"""

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

MOST_DIGITS = 9
"""Most digits that are read: Python itself refuses more than 4,300 with an error of its own."""

_MISSING = "–"


def percent(share: float) -> str:
    """A share as a percentage with as many digits as are informative, without a line break; a dash
    if it is not finite."""
    value = 100 * share
    if not math.isfinite(value):
        return _MISSING
    if 99.995 <= value < 100:
        return ">\u00a099.99\u00a0%"
    if 0 < value < 0.00005:
        return "<\u00a00.0001\u00a0%"
    return f"{_fixed(value, _percent_decimals(value))}\u00a0%"


def short_number(value: float) -> str:
    """A number with few digits, but enough that a small number does not become 0.00. A dash if it
    is not finite."""
    if not math.isfinite(value):
        return _MISSING
    if value == 0:
        return "0"
    size = abs(value)
    if size < 0.01:
        return _one_digit(value)
    return _fixed(value, 0 if size >= 100 else 1 if size >= 10 else 2)


def at_most(bound: float) -> str:
    """An upper bound of at least 0 in two digits, or one decimal, rounded up; a dash if it is not
    finite."""
    if not math.isfinite(bound):
        return _MISSING
    if bound <= 0:
        return "0"
    decimals = max(1, 1 - math.floor(math.log10(bound)))
    not_below = Decimal(float(bound)).quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING)
    return f"{not_below:f}"


def signed_number(value: float) -> str:
    """As `short_number`, with its sign, for a difference."""
    return f"+{short_number(value)}" if 0 < value < math.inf else short_number(value)


def common_decimals(values: Iterable[float]) -> int:
    """Number of decimals for all numbers of a column, so that they can be compared.

    2 to 7, so that the largest number has two significant digits.
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(max(1 - math.floor(math.log10(largest)), 2), 7) if largest else 2


def fixed_number(value: float, decimals: int, *, signed: bool = False) -> str:
    """A number with `decimals` decimals; a dash if it is not finite.

    signed: always with a sign, for a difference.
    """
    if not math.isfinite(value):
        return _MISSING
    text = _fixed(value, decimals)
    if not text.strip("−0."):
        return text.removeprefix("−")  # rounded to 0, which has no sign
    return f"+{text}" if signed and value > 0 else text


def calculated(value: float) -> str:
    """A number of a calculation: two decimals, or more if it is near zero."""
    return fixed_number(value, calculated_decimals(value))


def calculated_decimals(value: float) -> int:
    """Fewest decimals of a number of a calculation."""
    size = abs(value)
    return 2 if size >= 0.1 or size < 5e-6 else 3 if size >= 0.01 else 5


def rounded(value: float, exponent: int) -> Decimal:
    """The value rounded to a multiple of 10^exponent; a half away from zero, as JavaScript does."""
    return Decimal(float(value)).quantize(Decimal(1).scaleb(exponent), ROUND_HALF_UP)


def typed_number(text: str) -> int | None:
    """The number from 0 on that `text` writes in decimal digits, of any script.

    None if it has anything else, even a sign or a space, or more than `MOST_DIGITS` digits.
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def _percent_decimals(value: float) -> int:
    if 99.95 <= value < 100:
        return 2
    if value >= 0.095 or value == 0:  # rounded to 0.1, which is not written as 0.10
        return 1
    return 2 if value >= 0.00995 else 4


def _one_digit(value: float) -> str:
    """The value with one significant digit; below a ten-thousandth with a power of ten."""
    digit, power = f"{value:.0e}".split("e")
    exponent = int(power)
    if exponent >= -4:
        return _fixed(value, -exponent)
    return f"{digit}e{exponent}".replace("-", "−")


def _fixed(value: float, decimals: int) -> str:
    return f"{rounded(value, -decimals):f}".replace("-", "−")  # `str` writes 0E-7
