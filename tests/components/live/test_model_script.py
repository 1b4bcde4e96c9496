import numpy as np
import pytest

from explorer.components.live.model_script import model_script, model_text, script_size

FORBIDDEN = set('\0\n\r\x0e\x0f\x1a\x1b"&<\\\x7f')
ALPHABET = [chr(code) for code in range(128) if chr(code) not in FORBIDDEN]


def decoded(text: str) -> bytes:
    """With whole numbers of any size; zeros that fill the last group stay."""
    found = b""
    for at in range(0, len(text), 7):
        number = 0
        for letter in text[at : at + 7]:
            number = number * 116 + ALPHABET.index(letter)
        found += number.to_bytes(6, "big")
    return found


def test_the_numbers_at_both_ends_of_a_group():
    assert model_text(bytes(6)) == "\x01" * 7
    assert model_text(b"\0\0\0\0\0\1") == "\x01" * 6 + "\x02"
    # 2 ** 48 - 1 = 115·116⁶ + 61·116⁵ + 45·116⁴ + 27·116³ + 85·116² + 91·116 + 51
    assert model_text(b"\xff" * 6) == "~G6#`f="


@pytest.mark.parametrize("length", [0, 1, 5, 6, 7, 11, 6000])
def test_bytes_of_any_length_can_be_read_back(length):
    data = np.random.default_rng(length).bytes(length)
    text = model_text(data)
    assert decoded(text)[:length] == data
    assert len(text) == 7 * -(-length // 6)
    assert script_size(data) == len(model_script(data).encode())


def test_nothing_in_a_script_needs_an_escape_or_an_encoding():
    text = model_text(np.random.default_rng(0).bytes(60_000))
    assert set(text) == set(ALPHABET)
    assert model_script(b"\0<") == f'receiveModel("{model_text(bytes(1) + b"<")}");\n'
