"""Parts of a tokenizer.json that take all memory or time, or end the process that uses them."""

from typing import Any

PANIC = r"(a|a)*(a|a)*(a|a)*(a|aa)+$|(.*.*.*)*=x"


def replace(read: str, written: str, kind: str = "Regex") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: read}, "content": written}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


def split(pattern: str) -> dict[str, Any]:
    rule = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    levels = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    return {"type": "Sequence", "pretokenizers": [rule, levels]}


LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
HARMFUL: dict[str, dict[str, Any]] = {
    "growing": {"normalizer": sequence(*[replace(".", "abcdefghij")] * 8)},
    "growing by one letter": {
        "normalizer": sequence(*(replace(a, b * 50, "String") for a, b in ("жз", "зи", "ик", "кл")))
    },
    "growing output": {"decoder": {"type": "Sequence", "decoders": [replace(".", "ab")] * 30}},
    "bytes of bytes": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [LEVEL] * 40}},
    "panic": {"pre_tokenizer": split(PANIC)},
    "slow": {"pre_tokenizer": split("(?:a|a){20}b|(?:a?){25}c")},
    "long": {"pre_tokenizer": split("|".join(f"w{number}+x" for number in range(300_000)))},
    "slow on a word": {"pre_tokenizer": split("(xy|xy){22}z")},
}
"""Parts of a tokenizer.json that are put in the place of sound ones."""
