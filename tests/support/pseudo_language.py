"""A language that nobody speaks, made of the English sentences: each letter has an accent, and each
sentence is 30 % longer, as translations often are. What fills a sentence in, code, markup and names
of keys are kept.
"""

import json
import re
import tomllib
from pathlib import Path

from explorer.core.language_file_check import check_language

CODE = "qps"
NAME = "Þšéûðô"

_ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "áƀçďéƒğĥíĵķļɱñóþǫŕšţúṽŵẋýžÁßÇĎÉƑĞĤÍĴĶĻṀÑÓÞǪŔŠŢÚṼŴẊÝŽ",
)
_KEPT = re.compile(
    r"\{\w+:(?=[^{}]*\|)|\{[^{}|]*\}|`[^`]*`|<[^<>]*>|\b(?:Enter|Esc|Home|End|Ctrl|[A-Z])\b"
)
"""What has no accents; of a word that agrees with a number its two forms have."""


def write_pseudo_language(folder: Path) -> Path:
    """The language, whole, as a file in `folder`: what the check prints, translated."""
    path = folder / f"{CODE}.toml"
    lines = [f'name = "{NAME}"']
    path.write_text(lines[0], "utf-8")
    english = tomllib.loads("\n".join(check_language(path).missing))
    for section, entries in english.items():
        for key, sentence in entries.items():
            lines.append(f"{section}.{json.dumps(key)} = {json.dumps(pseudo(sentence))}")
    path.write_text("\n".join(lines), "utf-8")
    return path


def pseudo(sentence: str) -> str:
    """An English sentence in the language; space and signs such as an arrow at its ends stay there,
    and a sign between others, such as ", ", is the same."""
    begin, inner, end = re.fullmatch(
        r"([^\w{(“`]*)(.*?)([^\w})”`.?!%]*)", sentence, re.DOTALL
    ).groups()
    if not re.search(r"\w\w", _KEPT.sub("", inner)):
        return sentence
    longer = "ô" * max(round(0.3 * len(inner)) - 1, 1)
    words = " ".join(re.findall("ô{1,6}", longer))
    return f"{begin}«{_accented(inner)} {words}»{end}"


def _accented(text: str) -> str:
    kept = _KEPT.findall(text)
    rest = [part.translate(_ACCENTED) for part in _KEPT.split(text)]
    return "".join(part + sign for part, sign in zip(rest, [*kept, ""], strict=True))
