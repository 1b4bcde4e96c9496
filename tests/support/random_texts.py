"""Texts from a seed: words of real sentences, symbols, and characters that trip up tokenizers."""

import csv
import random
from functools import cache
from pathlib import Path

_CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
_HOSTILE = (
    "abzABZ019.,;!?'\"-–—…«»‚’“”"
    "éèçœßıİǅﬁΣςåÅ"
    "▁▁_   \t\n\r\x0b\x0c\x1c\x1f\x85\u00a0\u2003\u2028\u202f\u3000"
    "\x00\x01\x7f\u00ad\u200b\u200d\u2060\ufeff\ufffd"
    "\u0301\u0300\u0327\u0323\u1161\u11a8가ᄀ\u0344\u0958"
    "猫在睡觉你好，。！？、“”龘𠮷\u2f00１Ａｂ٣०"
    "שלוםمرحبا😀👩🏽🇫🇷<0xE4><s></s><pad><unk>"
    "\ud800\udfff"
)


@cache
def sentences() -> tuple[str, ...]:
    """The sentences of both languages of the gold files and the school sentences."""
    found: list[str] = []
    for path in sorted(_CHECKPOINTS.glob("*/*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            found += [cell for row in rows for cell in row[:2]]
    return tuple(found)


def sentence(number: int) -> str:
    """Sentence `number`: one of `sentences`, then parts of three of them, one after the other."""
    if number < len(sentences()):
        return sentences()[number]
    chance = random.Random(number)
    parts: list[str] = []
    for text in chance.sample(sentences(), 3):
        words = text.split(" ") if " " in text else list(text)
        start = chance.randrange(len(words))
        joint = " " if " " in text else ""
        parts.append(joint.join(words[start : start + chance.randint(1, 6)]))
    return " ".join(parts)


def hostile_text(number: int) -> str:
    """Text `number` of characters that trip up tokenizers, among words of sentences."""
    chance = random.Random(number)
    parts = [
        chance.choice(_HOSTILE) if chance.random() < 0.7 else sentence(chance.randrange(300))[:12]
        for _ in range(chance.randint(0, 25))
    ]
    text = "".join(parts)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
