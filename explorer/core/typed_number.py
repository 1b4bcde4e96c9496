"""Whole numbers in text that a person types or uploads."""

MOST_DIGITS = 9
"""Python itself refuses more than 4,300 with an error of its own."""


def typed_number(text: str) -> int | None:
    """The number from 0 on that `text` writes in decimal digits, of any script.

    None if it has anything else, even a sign or a space, or more than `MOST_DIGITS` digits.
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None
