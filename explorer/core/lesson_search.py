"""The lessons in folders: `NAME.en.md` and `NAME.zh.md` are one lesson in two languages, and each
further language may have one, too."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from explorer.core.errors import ExplorerError, LessonError
from explorer.core.files import has_printable_name, one_line, read_text
from explorer.core.i18n import LANGUAGES, say
from explorer.core.lesson import Lesson, read_lesson

_ORDER = (
    "query-and-key",
    "one-number-by-hand",
    "the-mask",
    "padding",
    "what-heads-share-out",
    "alignment",
    "what-if",
    "importance",
)
"""Order of the lessons that ship; others follow by name."""

_LARGEST = 2**18  # bytes of a file


class BrokenLessonError(LessonError):
    """A file that cannot be read as a lesson, and why.

    path: of the file.
    """

    def __init__(self, path: Path, problem: ExplorerError) -> None:
        self.path = path
        self.problem = problem.alone()
        super().__init__("broken", name=one_line(path.name))

    def in_language(self, language: str) -> str:
        """Sentence with the name of the file and its fault."""
        problem = self.problem.in_language(language)
        return say("lessons.broken", language, problem=problem, **self.facts)


@dataclass(frozen=True, slots=True)
class FoundLessons:
    """The lessons in some files.

    lessons: by name, then by language, at least one, English first; in the order of display.
    broken: errors of the files that are not lessons.
    """

    lessons: Mapping[str, Mapping[str, Lesson]]
    broken: tuple[BrokenLessonError, ...]

    def in_language(self, name: str, language: str) -> Lesson | None:
        """The lesson called `name` in `language`, or None if there is no such lesson.

        Fallback: English, then any other language.
        """
        written = self.lessons.get(name, {})
        return written.get(language) or next(iter(written.values()), None)


def lesson_files(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The Markdown files in these folders, except README files."""
    found = (path for folder in folders for path in sorted(folder.glob("*.md")))
    return tuple(path for path in found if path.stem.lower() != "readme")


def find_lessons(paths: Iterable[Path]) -> FoundLessons:
    """The lessons in these files, except those whose names cannot be printed.

    If two lessons have one name, the later one counts.
    """
    lessons: dict[str, dict[str, Lesson]] = {}
    broken = []
    for path in filter(has_printable_name, paths):
        try:
            name, language = _name(path)
            lessons.setdefault(name, {})[language] = read_lesson(
                read_text(path, _LARGEST), language
            )
        except ExplorerError as error:
            broken.append(BrokenLessonError(path, error))
    named = {
        name: {one: lessons[name][one] for one in LANGUAGES if one in lessons[name]}
        for name in sorted(lessons, key=_place)
        if lessons[name]
    }
    return FoundLessons(named, tuple(broken))


def _name(path: Path) -> tuple[str, str]:
    """Name and language. Raises `LessonError`."""
    name, _, language = path.stem.rpartition(".")
    if not name or language not in LANGUAGES:
        endings = ", ".join(f".{language}.md" for language in LANGUAGES)
        raise LessonError("no_language", endings=endings)
    return name, language


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)
