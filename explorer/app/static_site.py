"""The static site: the app's pages as files in a folder, for any web host, USB stick or phone.

The browser itself decodes. Models are files; lessons and the recorded training are separate pages.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from explorer.app import model_cache
from explorer.app.filled_lesson import filled_in, whole_lesson
from explorer.app.initial_view import chosen_head
from explorer.app.state.lesson import lessons
from explorer.app.state.visit import initial_request
from explorer.components.bundle import script, styles
from explorer.components.exported_page import with_parts_in_files
from explorer.components.live import page as live
from explorer.components.live.model_script import model_script
from explorer.components.live.page import LinkedLesson, LiveModel
from explorer.components.static_site_files import FIRST_PAGE, shared_files
from explorer.components.training_export import training_page
from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.files import one_line, printable, read_text, write_atomically, writing
from explorer.core.i18n import LANGUAGES, say
from explorer.core.lesson import Card, FoundLessons
from explorer.core.look import Selection
from explorer.jobs.training_run import find_run
from explorer.model.catalog import ShippedModel, shipped_models
from explorer.model.checkpoint import load_checkpoint, to_bytes

_LOG = logging.getLogger("explorer")
_RECORDED = "reverse"
_MARK = "attention-explorer-site.txt"
_ABOUT = "Open index.html. Written by attention-explorer site.\n\n"
_REMOVABLE = re.compile(
    r"models/[^/\\:]+\.(safetensors|js)|lessons/[^/\\:]+\.(html|js)"
    r"|sheets/[^/\\:]+\.html"
)
"""Files of an earlier static site that may be removed, among those its mark lists. Anybody can
change the mark, so the pattern allows only these folders. Earlier versions wrote the answers of the
lessons to "sheets"."""

Files = Iterator[tuple[str, bytes]]
"""Path in the folder, and the content of the file."""


def write_static_site(
    models: Sequence[ShippedModel], out: Path, tell: Callable[[str], None] = lambda name: None
) -> int:
    """Write the static site with these models to the folder `out`; its first page starts with the
    first one. Remove models and lessons of an earlier static site that this one lacks.

    Returns its size in bytes. Cards of lessons that cannot be shown are logged.

    tell: called with the name of each file before it is written.

    Raises `FileError` on a folder with other files and if a file cannot be written; also the errors
    of loading a model.
    """
    _refuse_other_files(out)
    earlier = _listed_files(out)
    sizes: dict[str, int] = {}
    tell(_MARK)
    try:
        _write_mark(out, earlier)
        _log_broken_cards(models)
        # The first page comes last, so that an unfinished folder opens nothing.
        files = chain(linked_files(models), first_page_files(models))
        for name, data in files:
            if name in sizes:
                continue  # several lessons have it
            tell(name)
            write_atomically(out / name, data)
            sizes[name] = len(data)
    finally:  # the next call knows the files of an interrupted one
        _write_mark(out, earlier | set(sizes))
    for name in earlier - set(sizes):
        with writing(out / name):
            (out / name).unlink(missing_ok=True)
    return _write_mark(out, set(sizes)) + sum(sizes.values())


def _refuse_other_files(out: Path) -> None:
    """Raise `FileError` if the folder holds files that this module has not written."""
    name = printable(out.absolute().name)
    with writing(out):
        if out.exists() and not out.is_dir():
            raise FileError("file_not_folder", name=name)
        occupied = out.exists() and any(out.iterdir())
    if occupied and not (out / _MARK).is_file():
        raise FileError("folder_in_use", name=name)


def _listed_files(out: Path) -> set[str]:
    """The models and lessons of an earlier static site, as its mark lists them."""
    if not (out / _MARK).is_file():
        return set()
    return {line for line in read_text(out / _MARK).splitlines() if _REMOVABLE.fullmatch(line)}


def _write_mark(out: Path, names: Iterable[str]) -> int:
    """Write the file that marks a folder as a static site, and return its size."""
    data = (_ABOUT + "".join(f"{name}\n" for name in sorted(names))).encode()
    write_atomically(out / _MARK, data)
    return len(data)


def files_for_class() -> Files:
    """The files for the guests of a class, in the order in which they are needed: the first page
    with the toy models, then with all, then what shows the host's training, then the pages that it
    links to."""
    models = list(shipped_models().values())
    toys = [model for model in models if not model.summary.reads_sentences]
    for some in (toys, models):
        if some:
            yield from first_page_files(some)
    if models:
        yield "training_replay.css", styles("training_replay").encode()
        yield "followed_replay.js", script("followed_replay").encode()
        yield from linked_files(models)


def first_page_files(models: Sequence[ShippedModel]) -> Files:
    """The first page, last, and the files that it needs. It starts with the first of the models."""
    opened = [_live_model(model) for model in models]
    yield from shared_files().items()
    for model in opened:
        yield f"models/{model.name}.js", model_script(model.data).encode()
    found = _whole_lessons({model.name for model in models})
    yield FIRST_PAGE, live.static_site_page(opened, list(_linked(found))).encode()


def linked_files(models: Sequence[ShippedModel]) -> Files:
    """The pages that the first page links to: the lessons and the recorded training."""
    offered = {model.name: model for model in models}
    found = _whole_lessons(offered)
    for language in LANGUAGES:
        yield from _lesson_pages(found, offered, language)
    run = find_run(folders.shipped_runs(), _RECORDED)
    for language in LANGUAGES:
        replay = training_page(f"recorded/{_RECORDED}", run, "", language)
        yield f"training.{language}.html", replay.encode()


def _lesson_pages(found: FoundLessons, offered: Mapping[str, ShippedModel], language: str) -> Files:
    """The lessons in one language, each with the link to the next."""
    in_order = [
        (name, written.get(language) or next(iter(written.values())))
        for name, written in found.lessons.items()
    ]
    followers: list[tuple[str, str] | None] = [(name, one.title) for name, one in in_order[1:]]
    for (name, lesson), following in zip(in_order, [*followers, None], strict=False):
        whole = whole_lesson(name, lesson, offered, language, "../", following)
        text, parts = with_parts_in_files(whole.decode())
        yield from ((f"lessons/{part}", data) for part, data in parts.items())
        yield f"lessons/{name}.{language}.html", text.encode()


def _live_model(model: ShippedModel) -> LiveModel:
    """The model, with weights as float16 and the head that the app shows first."""
    data = to_bytes(load_checkpoint(model.path), half=True)
    trace = model_cache.trace(model, initial_request(model))
    chosen = chosen_head(Selection(), model, trace)
    return LiveModel(model, data, None if chosen is None else chosen.head)


def _whole_lessons(models: Iterable[str]) -> FoundLessons:
    """The lessons whose models are all in the static site, which trains none: those of the page
    Train are left out."""
    known = set(models)
    return FoundLessons(
        {
            name: written
            for name, written in lessons().lessons.items()
            if all(
                card.view.get("model") in known
                for lesson in written.values()
                for card in lesson.cards
            )
        },
        (),
    )


def _log_broken_cards(models: Sequence[ShippedModel]) -> None:
    """Log each card that cannot be shown, in lessons of the static site and in those without a
    model.

    The language is that of the lesson, because its choices are compared with the answers of the
    trace in that language.
    """
    offered = {model.name: model for model in models}
    found, listed = _whole_lessons(offered), shipped_models()
    for name, language, number, card in _cards():
        if name not in found.lessons and card.view.get("model") in listed:
            continue
        if problem := filled_in(card, offered, language).problem:
            facts = {"file": one_line(f"{name}.{language}.md"), "problem": one_line(problem)}
            _LOG.warning(say("lessons.broken_card", language, number=number, **facts))


def _cards() -> Iterator[tuple[str, str, int, Card]]:
    """Each card with its lesson, language and number, from 1."""
    for name, written in lessons().lessons.items():
        for language, lesson in written.items():
            for number, card in enumerate(lesson.cards, 1):
                yield name, language, number, card


def _linked(found: FoundLessons) -> Iterator[LinkedLesson]:
    for name, written in found.lessons.items():
        first = next(iter(written.values()))
        shown = {language: written.get(language, first) for language in LANGUAGES}
        titles = {language: lesson.title for language, lesson in shown.items()}
        aims = {language: lesson.aims for language, lesson in shown.items()}
        yield LinkedLesson(name, titles, aims, first.minutes)
