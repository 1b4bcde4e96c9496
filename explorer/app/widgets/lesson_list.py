"""The list of lessons in the header of all pages."""

from collections.abc import Iterator

from explorer.app.component import component
from explorer.components.lesson.payload import ListedLesson, list_payload
from explorer.core.lesson import FoundLessons


def lesson_list(found: FoundLessons, language: str) -> str | None:
    """Draw the list, with the files that are no lessons below it. Returns the name of the lesson,
    or the path of the file, that the visitor has chosen now; None = nothing."""
    broken = [ListedLesson(f"{one.path}", one.path.name) for one in found.broken]
    listed = list(_listed(found, language))
    if not listed and not broken:
        return None
    shown = component("lesson_list")(
        key="lessons",
        data=list_payload(listed, broken, language),
        width="content",
        on_open_change=lambda: None,
    )
    return shown.open if isinstance(shown.open, str) else None


def _listed(found: FoundLessons, language: str) -> Iterator[ListedLesson]:
    for name in found.lessons:
        lesson = found.in_language(name, language)
        if lesson is not None:
            yield ListedLesson(name, lesson.title, lesson.minutes, lesson.aims)
