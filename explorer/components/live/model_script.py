"""A model's file as ASCII text: 7 characters for 6 bytes, where base64 takes 8.

From disk, browsers let a page load scripts alone, so the file is a string in one. The bytes are
read as big-endian numbers of 48 bits and written to base 116, as 256**6 < 116**7; `modelText.js`
reads them back.
"""

import numpy as np

_LEFT_OUT = b'\0\n\r\x0e\x0f\x1a\x1b"&<\\\x7f'
"""Characters with a meaning in a string, in HTML or in some encoding that a host may name."""

_DIGITS = np.array([code for code in range(128) if code not in _LEFT_OUT], dtype=np.uint8)
_GROUP, _LETTERS = 6, 7
_BEFORE, _AFTER = 'receiveModel("', '");\n'


def model_text(data: bytes) -> str:
    """`data` in ASCII characters that need no escape, in a string or inside a page.

    The last bytes are filled up with zeros to 6, so a reader has to know the number of bytes.
    """
    filled = data + bytes(-len(data) % _GROUP)
    groups = np.frombuffer(filled, dtype=np.uint8).reshape(-1, _GROUP)
    numbers = np.zeros(len(groups), dtype=np.uint64)
    for place in range(_GROUP):
        numbers = numbers * np.uint64(256) + groups[:, place]
    letters = np.empty((len(groups), _LETTERS), dtype=np.uint8)
    base = np.uint64(len(_DIGITS))
    for place in reversed(range(_LETTERS)):
        numbers, rest = np.divmod(numbers, base)
        letters[:, place] = _DIGITS[rest]
    return letters.tobytes().decode("ascii")


def model_script(data: bytes) -> str:
    """A classic script that hands `model_text` to the page."""
    return f"{_BEFORE}{model_text(data)}{_AFTER}"


def script_size(data: bytes) -> int:
    """Bytes of `model_script`."""
    return len(_BEFORE) + -(-len(data) // _GROUP) * _LETTERS + len(_AFTER)
