"""The bound against what the library itself makes of texts."""

import base64
import json
import random
import struct
from typing import Any

import pytest
from tokenizers import Regex, normalizers, pre_tokenizers

from explorer.model.huggingface.text_growth import (
    LARGEST_GROWTH,
    MOST_STEPS,
    growth,
    may_grow,
)


def described(part: Any) -> Any:
    return json.loads(part.__getstate__())


def replacing(*steps: tuple[Any, str]) -> normalizers.Sequence:
    return normalizers.Sequence([normalizers.Replace(read, written) for read, written in steps])


def drawn(generator: random.Random) -> tuple[Any, str]:
    read = "".join(generator.choices("abc", k=generator.randint(1, 2)))
    written = "".join(generator.choices("abcd", k=generator.randint(0, 3)))
    return (Regex(f"{read}*|d") if generator.random() < 0.2 else read), written


def test_no_text_grows_beyond_the_bound():
    generator, grown = random.Random(0), 0
    for _ in range(300):
        chain = replacing(*(drawn(generator) for _ in range(generator.randint(1, 5))))
        bound = growth(described(chain)["normalizers"])
        for _ in range(5):
            text = "".join(generator.choices("abcd", k=12))
            length = len(chain.normalize_str(text))
            assert length <= bound * (len(text) + 1)  # an expression may match behind the end, too
            grown += length > 3 * len(text)
    assert grown > 50


@pytest.mark.parametrize(
    ("steps", "bound"),
    [
        ([], 1),
        ([(" ", "▁")], 1),
        ([("a", "bb"), ("b", "cc")], 4),
        ([("a", "bb"), ("c", "dd"), ("e", "ff")], 2),  # each letter once
        ([("ab", "cccc")], 2),
        ([("b", "cc"), ("a", "bb")], 2),  # the other way round, nothing is replaced twice
        ([(".", "x" * 10)] * 8, 10),  # of dots alone: x is no dot
    ],
)
def test_the_bound_of_replaced_texts_is_the_growth(steps, bound):
    assert growth(described(replacing(*steps))["normalizers"]) == bound


def test_what_known_tokenizers_do_may_not_grow():
    known = [
        replacing(("``", '"'), ("''", '"'), (Regex(" {2,}"), " ")),  # ALBERT, XLNet
        normalizers.Sequence(
            [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
        normalizers.BertNormalizer(),
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"), pre_tokenizers.ByteLevel()]
        ),
        replacing(*((one, other) for one in "&%@+" for other in (" and ",))),
    ]
    for part in known:
        assert not may_grow(described(part))
    assert not may_grow(None)


def table(*pieces: bytes) -> dict[str, Any]:
    """A table of characters as SentencePiece writes it, with an empty trie."""
    data = struct.pack("<I", 0) + b"".join(piece + b"\0" for piece in pieces)
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


@pytest.mark.parametrize(
    "part",
    [
        described(replacing(*[(Regex("."), "x" * 10)] * 8)),
        described(
            replacing(*((one, other * 10) for one, other in zip("abcd", "bcde", strict=True)))
        ),
        described(normalizers.Sequence([replacing(("a", "b" * 9)), replacing(("b", "c" * 9))])),
        described(replacing(("x", "y" * 1000))),
        described(pre_tokenizers.Sequence([pre_tokenizers.ByteLevel()] * 3)),
        described(normalizers.Sequence([normalizers.BertNormalizer()] * (MOST_STEPS + 1))),
        {"type": "Sequence", "normalizers": [table(b"a", b"b" * 10_000)]},
        {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 10**6},
    ],
)
def test_what_may_make_a_text_many_times_as_long_is_told(part):
    assert may_grow(part)
    assert may_grow(None, part)


def test_the_table_of_nfkc_is_allowed():
    assert not may_grow(table("ﷺ".encode(), "صلى الله عليه وسلم".encode()))
    assert LARGEST_GROWTH > 18
