"""How many guests of a class one network address may have: a school may have a single one.

EXPLORER_GUESTS    pages in view, votes and curves of an address; set by `class --guests`
"""

import os

from explorer.core.number_format import typed_number

VARIABLE = "EXPLORER_GUESTS"
LARGEST = 4096
"""Of the setting: a class remembers as many guests."""

_PAGES, _CURVES = 150, 30


def pages_of_address() -> int:
    """Pages in view, and votes on a question, of one network address."""
    return _set() or _PAGES


def curves_of_address() -> int:
    """Curves of trainings that are kept of one network address."""
    return _set() or _CURVES


def factor() -> float:
    """By what other limits grow, those of rates, of connections and of all addresses together, so
    that an address can use its pages; from 1."""
    return max(1.0, pages_of_address() / _PAGES)


def _set() -> int:
    """The setting; 0 = none."""
    number = typed_number(os.environ.get(VARIABLE, "")) or 0
    return min(number, LARGEST)
