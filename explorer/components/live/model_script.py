"""A model's file as ASCII text: 13 characters for 12 bytes of small float16 numbers.

From disk, browsers let a page load scripts alone, so the file is a string in one. `modelText.ts`
reads it back. The text has the first bytes of all pairs, then the second ones: those of float16
numbers have sign and exponent, which compress when they stand together.

The first bytes are read as big-endian numbers of 48 bits and written to base 116, as
256**6 < 116**7. A second byte is turned left by one bit, so that the sign comes last and numbers
below 0.625 have few values: below `_SINGLE` it is one digit, else two.
"""

import numpy as np
import numpy.typing as npt

_LEFT_OUT = b'\0\n\r\x0e\x0f\x1a\x1b"&<\\\x7f'
"""Characters with a meaning in a string, in HTML or in some encoding that a host may name."""

_DIGITS = np.array([code for code in range(128) if code not in _LEFT_OUT], dtype=np.uint8)
_BASE = len(_DIGITS)
_SINGLE = _BASE - 2  # the last two digits begin pairs, for 256 - _SINGLE values
_GROUP, _LETTERS = 6, 7
_BEFORE, _AFTER = 'receiveModel("', '");\n'

_Bytes = npt.NDArray[np.uint8]


def model_text(data: bytes) -> str:
    """`data` in ASCII characters that need no escape, in a string or inside a page.

    The first bytes are filled up with zeros to 6, so a reader has to know the number of bytes.
    """
    return (_in_groups(data[::2]) + _turned_left(data[1::2])).decode("ascii")


def model_script(data: bytes) -> str:
    """A classic script that hands `model_text` to the page."""
    return f"{_BEFORE}{model_text(data)}{_AFTER}"


def script_size(data: bytes) -> int:
    """Bytes of `model_script`."""
    turned = _turned(data[1::2])
    groups = -(-len(data[::2]) // _GROUP)
    letters = _LETTERS * groups + len(turned) + np.count_nonzero(turned >= _SINGLE)
    return len(_BEFORE) + int(letters) + len(_AFTER)


def _in_groups(data: bytes) -> bytes:
    """7 letters for 6 bytes."""
    filled = data + bytes(-len(data) % _GROUP)
    groups = np.frombuffer(filled, dtype=np.uint8).reshape(-1, _GROUP)
    numbers = np.zeros(len(groups), dtype=np.uint64)
    for place in range(_GROUP):
        numbers = numbers * np.uint64(256) + groups[:, place]
    letters = np.empty((len(groups), _LETTERS), dtype=np.uint8)
    for place in reversed(range(_LETTERS)):
        numbers, rest = np.divmod(numbers, np.uint64(_BASE))
        letters[:, place] = _DIGITS[rest]
    return letters.tobytes()


def _turned_left(data: bytes) -> bytes:
    """A letter or two for each byte."""
    turned = _turned(data)
    pairs = turned >= _SINGLE
    high, low = np.divmod(np.where(pairs, turned - _SINGLE, turned), _BASE)
    letters = np.stack([_DIGITS[_SINGLE + high], _DIGITS[low]], axis=1)
    return letters[np.stack([pairs, np.ones_like(pairs)], axis=1)].tobytes()


def _turned(data: bytes) -> _Bytes:
    """Each byte with its highest bit moved to the lowest place."""
    values = np.frombuffer(data, dtype=np.uint8)
    return (values << np.uint8(1)) | (values >> np.uint8(7))
