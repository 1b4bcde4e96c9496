"""The app's pages as a folder of static files, which any web host, USB stick or phone opens.

On them the browser itself decodes: models are files, lessons and the recorded training are pages of
their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from explorer.app import experiment_cache, model_cache
from explorer.app.filled_lesson import whole_lesson
from explorer.app.lessons import lessons
from explorer.app.request import Selection
from explorer.app.state.visit import opening_request
from explorer.components.live import page as live
from explorer.components.live.page import LinkedLesson, LiveModel
from explorer.components.shared.bundle import PLOTLY, script, styles
from explorer.components.training_export import training_page
from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.files import unwritable, write_atomically
from explorer.core.i18n import LANGUAGES
from explorer.core.lesson_search import FoundLessons
from explorer.model.catalog import ShippedModel
from explorer.model.checkpoint import load_checkpoint, to_bytes
from explorer.training.run_directory import find_run

_RECORDED = "reverse"
_MARK = "attention-explorer-site.txt"
_ABOUT = "Open index.html. Written by attention-explorer site.\n"

Files = Iterator[tuple[str, bytes]]
"""Path in the folder, and what it holds."""


def write_site(
    models: Sequence[ShippedModel], out: Path, tell: Callable[[str], None] = lambda name: None
) -> int:
    """Write the site with these models, the one it opens with first, to the folder `out`.

    Returns its size in bytes.

    tell: told of each file before it is written.

    Raises `FileError` on a folder with other files, and where nothing can be written; what
    loading a model raises.
    """
    _refuse_other_files(out)
    total = 0
    for name, data in _files(models):
        tell(name)
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error
        write_atomically(path, data)
        total += len(data)
    return total


def _refuse_other_files(out: Path) -> None:
    """Raise `FileError` where files lie that this module has not written."""
    try:
        occupied = out.exists() and (not out.is_dir() or any(out.iterdir()))
    except OSError as error:
        raise unwritable(out, error) from error
    if occupied and not (out / _MARK).is_file():
        raise FileError("folder_in_use", name=out.name)


def _files(models: Sequence[ShippedModel]) -> Files:
    """All files, the first page last: an unfinished folder opens nothing."""
    yield _MARK, _ABOUT.encode()
    opened = [_live_model(model) for model in models]
    found = _whole_lessons({model.name for model in models})
    yield from _fixed_files()
    for model in opened:
        yield f"models/{model.name}.safetensors", model.data
        yield f"models/{model.name}.js", live.model_script(model.data).encode()
    offered = {model.name: model for model in models}
    for name, written in found.lessons.items():
        for language in LANGUAGES:
            lesson = written.get(language) or next(iter(written.values()))
            text = whole_lesson(name, lesson, offered, language, live.BACK_FROM_LESSON)
            yield f"lessons/{name}.{language}.html", text
    run = find_run(folders.shipped_runs(), _RECORDED)
    for language in LANGUAGES:
        key = f"recorded/{_RECORDED}"
        yield f"training.{language}.html", training_page(key, run, language, live.BACK).encode()
    yield "index.html", live.site_page(opened, list(_linked(found))).encode()


def _fixed_files() -> Files:
    yield live.SCRIPT, script("live").encode()
    yield live.STYLES, styles("live").encode()
    yield live.PLOTLY_NAME, PLOTLY.read_bytes()
    yield live.SERVICE_WORKER, script("live_service_worker").encode()


def _live_model(model: ShippedModel) -> LiveModel:
    """The model, with weights as float16 and the head that the app opens it with."""
    data = to_bytes(load_checkpoint(model.path), half=True)
    trace = model_cache.trace(model, opening_request(model))
    chosen = experiment_cache.chosen_head(Selection(), model, trace)
    opening = None if chosen is None else (chosen.head.layer, chosen.head.head)
    return LiveModel(model, data, opening)


def _whole_lessons(models: Iterable[str]) -> FoundLessons:
    """The lessons all of whose models are in the site."""
    known = set(models)
    return FoundLessons(
        {
            name: written
            for name, written in lessons().lessons.items()
            if all(
                card.view["model"] in known for lesson in written.values() for card in lesson.cards
            )
        },
        (),
    )


def _linked(found: FoundLessons) -> Iterator[LinkedLesson]:
    for name, written in found.lessons.items():
        first = next(iter(written.values()))
        titles = {language: written.get(language, first).title for language in LANGUAGES}
        yield LinkedLesson(name, titles)
