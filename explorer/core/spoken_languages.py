"""Names of the languages of multilingual models.

`spoken_languages.tsv` has one language a line: its codes of ISO 639, English and Chinese name.
Source of names: Unicode CLDR 47, and ISO 639-3 for languages that it lacks.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("spoken_languages.tsv")
_CHINESE = "zh"
_MOST_NEAR = 5
_ALIKE = 0.75  # of the similarity that difflib measures


def language_name(code: str, language: str = "en") -> str:
    """The name of the language of a code such as "fr", "fra_Latn" or "fr_XX"; "" if it is unknown.

    In Chinese if the interface is in Chinese, else in English.
    """
    names = _names().get(code.partition("_")[0].lower())
    return "" if names is None else names[language == _CHINESE]


def nearest_codes(wanted: str, codes: Iterable[str]) -> tuple[str, ...]:
    """At most five codes that may be meant by `wanted`: those of the language with this name or
    code, or else those spelled similarly."""
    listed, asked = list(codes), wanted.strip().lower()
    name = language_name(asked).lower() or asked
    same = [code for code in listed if name and name == language_name(code).lower()]
    return tuple(same or get_close_matches(wanted, listed, _MOST_NEAR, _ALIKE))[:_MOST_NEAR]


@cache
def _names() -> Mapping[str, tuple[str, str]]:
    """Code → English and Chinese name."""
    found: dict[str, tuple[str, str]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        codes, english, chinese = line.split("\t")
        found |= dict.fromkeys(codes.split(), (english, chinese))
    return found
