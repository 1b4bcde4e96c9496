import gzip

import numpy as np
import pytest

from explorer.components.live.model_script import model_script, model_text, script_size

FORBIDDEN = set('\0\n\r\x0e\x0f\x1a\x1b"&<\\\x7f')
ALPHABET = [chr(code) for code in range(128) if chr(code) not in FORBIDDEN]


def decoded(text: str, length: int) -> bytes:
    """With whole numbers of any size."""
    first, found = -(-length // 2), bytearray(length)
    end = 7 * -(-first // 6)
    bytes_ = b""
    for at in range(0, end, 7):
        number = 0
        for letter in text[at : at + 7]:
            number = number * 116 + ALPHABET.index(letter)
        bytes_ += number.to_bytes(6, "big")
    found[::2] = bytes_[:first]
    letters = iter(text[end:])
    for at in range(1, length, 2):
        digit = ALPHABET.index(next(letters))
        if digit >= 114:
            digit = 114 + 116 * (digit - 114) + ALPHABET.index(next(letters))
        found[at] = digit // 2 + 128 * (digit % 2)
    assert not list(letters)
    return bytes(found)


def test_the_first_bytes_of_pairs_are_the_digits_of_one_number():
    zeros = "\x01" * 6  # the second bytes
    assert model_text(bytes(12)) == "\x01" * 7 + zeros
    assert model_text(bytes(10) + b"\1\0") == "\x01" * 6 + "\x02" + zeros
    # 2 ** 48 - 1 = 115·116⁶ + 61·116⁵ + 45·116⁴ + 27·116³ + 85·116² + 91·116 + 51
    assert model_text(b"\xff\0" * 6) == "~G6#`f=" + zeros


@pytest.mark.parametrize(
    ("number", "letters"),
    [
        (0.25, [104]),  # 0b0_01101_00, the sign moved to the end
        (-0.25, [105]),
        (0.6, [112]),  # 0b0_01110_00
        (0.625, [114, 0]),  # 0b0_01110_01 is 114
        (1.0, [114, 6]),
        (-4.0, [114, 23]),  # 0b1_10001_00 is 137
        (float("-inf"), [115, 19]),  # 0b1_11111_00 is 249 = 114 + 116 + 19
    ],
)
def test_sign_and_exponent_are_one_letter_or_two(number, letters):
    text = model_text(np.array([number], "<f2").tobytes())
    assert [ALPHABET.index(letter) for letter in text[7:]] == letters


@pytest.mark.parametrize("length", [0, 1, 2, 5, 6, 11, 12, 13, 6000])
def test_bytes_of_any_length_can_be_read_back(length):
    data = np.random.default_rng(length).bytes(length)
    assert decoded(model_text(data), length) == data
    assert script_size(data) == len(model_script(data).encode())


def test_small_numbers_take_little_space():
    """13 characters for 12 bytes; compressed, less than the bytes themselves."""
    data = np.random.default_rng(0).normal(0, 0.1, 60_000).astype("<f2").tobytes()
    text = model_text(data).encode()
    assert len(text) < 1.09 * len(data)
    assert len(gzip.compress(text, 6)) < 0.95 * len(gzip.compress(data, 6))


def test_nothing_in_a_script_needs_an_escape_or_an_encoding():
    text = model_text(np.random.default_rng(0).bytes(60_000))
    assert set(text) == set(ALPHABET)
    assert model_script(b"\0<") == f'receiveModel("{model_text(bytes(1) + b"<")}");\n'
