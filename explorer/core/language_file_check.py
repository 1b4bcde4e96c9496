"""Check of the file of a further language: missing sentences, and lines that are not used."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from explorer.core import folders
from explorer.core.errors import ExplorerError, LanguageError
from explorer.core.files import log_skipped, printable, reading
from explorer.core.i18n import OWN_LANGUAGES, LanguageFile, read_language_file, say, table

_IN_BRACES = re.compile(r"\{+[^{}]*\}*|\}+")
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class CheckedLanguage:
    """Result of `check_language`.

    name: the language's own name.
    missing: lines with the English sentences that lack a translation, in the format of the file.
    faults: one for each line that is not used.
    total: number of sentences in the table.
    """

    name: str
    missing: tuple[str, ...]
    faults: tuple[LanguageError, ...]
    total: int


def check_language(path: Path) -> CheckedLanguage:
    """Compare a file with the sentences of the program.

    Raises `FileError` if it cannot be read, and `LanguageError` if it cannot be used at all.
    """
    language = _usable(path)
    english = {
        (section, key): sentences["en"]
        for section, entries in table().items()
        for key, sentences in entries.items()
    }
    missing = tuple(
        f"{_line(*key)} = {_quoted(sentence)}"
        for key, sentence in english.items()
        if not language.sentence(*key, sentence)
    )
    return CheckedLanguage(language.name, missing, tuple(_faults(language, english)), len(english))


def log_unusable_languages() -> None:
    """Log why a file in the folders of languages is not offered."""
    for path in folders.language_files():
        try:
            _usable(path)
        except ExplorerError as error:
            log_skipped(path, error)


def _usable(path: Path) -> LanguageFile:
    """The language in a file. Raises as `check_language`."""
    file = printable(path.name)
    try:
        with reading(path):
            language = read_language_file(path)
    except ValueError as error:
        raise LanguageError("no_toml", file=file, problem=str(error)) from error
    if not language.has_code or path.suffix != ".toml":
        raise LanguageError("bad_code", file=file)
    if name := OWN_LANGUAGES.get(language.code):
        raise LanguageError("own_language", file=file, name=name)
    if not language.name:
        raise LanguageError("no_name", file=file)
    return language


def _faults(
    language: LanguageFile, english: Mapping[tuple[str, str], str]
) -> Iterator[LanguageError]:
    """Errors for the lines that are not used. english: all sentences, by section and key."""
    for section, entries in language.sections.items():
        if not isinstance(entries, Mapping):
            yield LanguageError("unknown_key", line=_line(section))
            continue
        for key, text in entries.items():
            line, sentence = _line(section, key), english.get((section, key))
            if sentence is None:
                yield LanguageError("unknown_key", line=line)
            elif not isinstance(text, str) or not text.strip():
                yield LanguageError("no_text", line=line)
            elif not language.sentence(section, key, sentence):
                braces = {"expected": _braces(sentence), "got": _braces(text)}
                yield LanguageError("other_facts", line=line, **braces)


def _braces(sentence: str) -> str:
    """The parts of a sentence in braces, as they are written; "nothing" if there are none."""
    return " ".join(_IN_BRACES.findall(sentence)) or say("languages.nothing")


def _line(*parts: str) -> str:
    """The key of a line, "section.name"; a sentence as a name is quoted."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in parts)


def _quoted(text: str) -> str:
    """A TOML string; the escapes of JSON are among its own."""
    return json.dumps(text, ensure_ascii=False)
