"""The file of a further language of the interface: its name, and a line for each sentence.

    name = "Français"
    explore.page = "Explorer"
    train.queue = "{count} {count:tâche attend|tâches attendent}"

The keys are those of the table of sentences, `strings/`, with the name of the section before them.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLURAL = re.compile(r"\{(\w+):([^{}|]*)\|([^{}|]*)\}")
"""A word that agrees with a fact: name of the fact, word for 1, word for other numbers."""

_FACT = re.compile(r"\{\{|\}\}|\{(\w+)(:[^{}]*)?\}")
"""A fact with its format, as in `str.format`, or an escaped brace."""

_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)


@dataclass(frozen=True, slots=True)
class LanguageFile:
    """The contents of a language file.

    code: of the language (BCP 47), as in links and in the `lang` attribute; the file's name.
    name: the language's own name; "" if the file does not give it.
    sections: section → key → sentence; unchecked, so values may have any type.
    """

    code: str
    name: str
    sections: Mapping[str, Any]

    @property
    def has_code(self) -> bool:
        """Whether the file's name is the code of a language."""
        return bool(_CODE.fullmatch(self.code))

    def sentence(self, section: str, key: str, english: str) -> str:
        """The sentence under a key; "" if there is none with the facts of the English one."""
        entries = self.sections.get(section)
        text = entries.get(key) if isinstance(entries, Mapping) else None
        fits = isinstance(text, str) and text.strip() and _filled_as(text) == _filled_as(english)
        return text if fits and isinstance(text, str) else ""


def read_language_file(path: Path) -> LanguageFile:
    """Read a language file. Raises `OSError`, and `ValueError` if it is not TOML."""
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    name = sections.pop("name", "")
    return LanguageFile(
        path.stem, " ".join(name.split()) if isinstance(name, str) else "", sections
    )


def _filled_as(sentence: str) -> tuple[set[str], set[str], list[str]]:
    """Parts that two sentences must share for `str.format`.

    Names of facts, facts with a format, and literal braces.
    """
    plain = PLURAL.sub("", sentence)
    facts = _FACT.findall(plain)
    names = {name for name, *_ in (*facts, *PLURAL.findall(sentence)) if name}
    formats = {f"{name}{form}" for name, form in facts if form}
    own = [found[0] for found in _FACT.finditer(plain) if not found[1]]
    return names, formats, own + re.findall(r"[{}]", _FACT.sub("", plain))
