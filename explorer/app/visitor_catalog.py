"""The catalog of one visitor: the models that ship, those of the runs of this machine, the model
directories below the folders named at the start, known models in the cache of the hub, and the
visitor's own uploads.

A run in training is listed with its latest stored model. Its stamp changes with the file,
and so does everything cached for the model.

No folder can be named through the browser: only listed directories can be opened. Uploads are in
memory as long as the session lasts. A request outside of Streamlit's session names them by a token
that nobody can guess.
"""

import secrets
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar
from weakref import WeakValueDictionary

import streamlit as st

from explorer.app import model_cache
from explorer.app.server import fetch_route
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.jobs.training_run import Run, find_run
from explorer.model import catalog
from explorer.model.catalog import (
    TRAINED_PREFIX,
    CatalogMember,
    TrainedModel,
    Upload,
    trained_model,
)
from explorer.model.checkpoint_header import read_header
from explorer.model.directory_search import FoundDirectory, find_directories, named_models
from explorer.model.known_models import KNOWN_MODELS
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import DirectoryModel

MOST_UPLOADS = 4
"""Uploads of one visitor at a time."""

_REFRESH = 5.0  # seconds between two looks at the folders of models, which may be large


class UploadError(ExplorerError):
    """A file that one visitor may not upload."""

    section: ClassVar[str] = "explore"


@dataclass(slots=True, weakref_slot=True, eq=False)
class Uploads:
    """One visitor's uploads, which the session alone keeps.

    members: by name. refused: why the last file was refused; None if it was not.
    """

    token: str = field(default_factory=partial(secrets.token_urlsafe, 32))
    members: Mapping[str, Upload] = field(default_factory=dict)
    refused: ExplorerError | None = None


_uploads: WeakValueDictionary[str, Uploads] = WeakValueDictionary()  # by token


def _mine() -> Uploads:
    """This visitor's uploads."""
    mine = session.find(Uploads)
    if mine is None:
        mine = Uploads()
        session.save(mine)
        _uploads[mine.token] = mine
    return mine


def uploads() -> Mapping[str, Upload]:
    """This visitor's uploads, by name."""
    return _mine().members


def visitor_token() -> str:
    """Names this visitor's uploads for `catalog_of`, as long as the session lasts."""
    return _mine().token


def visitor_catalog() -> dict[str, CatalogMember]:
    """Members this visitor may choose from, by name: models that ship, models trained on this
    machine, the directories below the folders named at the start, then the uploads."""
    return _catalog_with(uploads())


def catalog_of(token: str) -> dict[str, CatalogMember]:
    """As `visitor_catalog`, outside of a session; without uploads if the token is of no session."""
    found = _uploads.get(token)
    return _catalog_with(found.members if found else {})


def _catalog_with(mine: Mapping[str, Upload]) -> dict[str, CatalogMember]:
    shipped = catalog.shipped_models()
    known = {**shipped, **trained_models({*shipped, *mine})}
    return {**known, **model_directories({*known, *mine}), **mine}


def run_model(run: Run) -> TrainedModel:
    """The model of a run, as this visitor's catalog has it. Raises `FileError`,
    `CheckpointError`."""
    return model_of_run(run, {*catalog.shipped_models(), *uploads()})


def trained_models(taken: Container[str] = ()) -> dict[str, TrainedModel]:
    """The models of all runs that have stored one, by name; the newest run first.

    taken: names of other models.
    """
    dated = []
    for path in folders.runs().glob("*/config.json"):
        try:
            status = path.stat()
        except OSError:
            continue
        created = _created(path.parent, status.st_mtime_ns, status.st_size)
        model = None if created is None else _model(Run(path.parent), taken)
        if created is not None and model is not None:
            dated.append((created, model))
    dated.sort(key=lambda one: (one[0], one[1].name), reverse=True)
    return {model.name: model for _, model in dated}


def model_of_run(run: Run, taken: Container[str] = ()) -> TrainedModel:
    """The model of a run, as `trained_models` lists it. Raises `FileError`, `CheckpointError`."""
    model = _model(run, taken)
    if model is None:
        read_header(_path(run))
        raise AssertionError("a header that can be read is listed")
    return model


def model_directories(taken: Container[str] = ()) -> dict[str, DirectoryModel]:
    """The listed directories by name, and the known models in the cache of the hub. taken: names of
    other models."""
    known = KNOWN_MODELS.values() if fetch_route.offered() else ()
    cached = (model.snapshot for model in known)
    roots = *folders.models(), *filter(None, cached)
    if not roots:
        return {}
    models = named_models(_found(roots), taken)
    return {name: _as_opened(model) for name, model in models.items()}


def open_fetched(report: Mapping[str, object]) -> bool:
    """Choose the model that a component reports as fetched; returns whether it reports any."""
    fetched = report.get("fetched")
    if not isinstance(fetched, Mapping):
        return False
    visit_state.choose_model(str(fetched.get("open")), visitor_catalog())
    return True


def add_upload(upload: Upload) -> str:
    """Add an upload under a free name, unless it is there already. Returns its name.

    Raises `UploadError` if the visitor already has as many as allowed.
    """
    mine = uploads()
    for name, other in mine.items():
        if other.stamp == upload.stamp:
            return name
    if len(mine) >= MOST_UPLOADS:
        raise UploadError("too_many_uploads", limit=MOST_UPLOADS)
    taken, name, number = visitor_catalog(), upload.name, 2
    while name in taken:
        name, number = f"{upload.name} ({number})", number + 1
    _keep({**mine, name: replace(upload, name=name)})
    return name


def delete_upload(name: str) -> None:
    """Drop an upload. If it is the chosen model, choose the first model of the catalog."""
    _keep({key: one for key, one in uploads().items() if key != name})
    if visit_state.current().request.model == name:
        remaining = visitor_catalog()
        visit_state.choose_model(next(iter(remaining)), remaining)


def refuse_upload(error: ExplorerError | None) -> None:
    """Note why the last file was refused; None = it was not."""
    _mine().refused = error.alone() if error else None


def refused_upload() -> ExplorerError | None:
    """Why the last file was refused."""
    return _mine().refused


def _keep(members: Mapping[str, Upload]) -> None:
    _mine().members = members


def _model(run: Run, taken: Container[str]) -> TrainedModel | None:
    name = f"{TRAINED_PREFIX}{run.name}" if run.name in taken else run.name
    return trained_model(name, _path(run))


def _path(run: Run) -> Path:
    """The best checkpoint, or the last one if no best is stored."""
    return run.best_path if run.best_path.exists() else run.checkpoint_path


@lru_cache(maxsize=512)
def _created(folder: Path, changed: int, size: int) -> float | None:
    """Creation time of a run, or None if it cannot be read.

    changed, size: of its settings; a changed file is read again.
    """
    try:
        run = find_run(folder.parent, folder.name)
        return run.created if run.config else None
    except ExplorerError:
        return None


@st.cache_resource(ttl=_REFRESH, max_entries=4, show_spinner=False)
def _found(roots: tuple[Path, ...]) -> tuple[FoundDirectory, ...]:
    return find_directories(roots)


def _as_opened(member: DirectoryModel) -> DirectoryModel:
    """A directory as listed or, once its model is loaded without a usable tokenizer, as a model of
    ids."""
    model = model_cache.opened(member)
    if model is None or model.tokens.tokenizer is not None:
        return member
    return replace(member, kind=TextKind.IDS, vocabulary=model.tokens.size)
