"""How wide a text is about, where no font can be asked."""

import unicodedata


def text_width(text: str, letter: float, wide: float) -> float:
    """letter, wide: width of a letter, and of a character as wide as a Chinese one."""
    count = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return count * wide + (len(text) - count) * letter
