"""The models and traces one visitor uploaded, in memory as long as the session lasts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from explorer.app.model_directories import model_directories
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.trained_models import model_of_run, trained_models
from explorer.core.errors import ExplorerError
from explorer.jobs.training_run import Run
from explorer.model import catalog
from explorer.model.catalog import CatalogMember, TrainedModel, Upload

MOST_UPLOADS = 4
"""Uploads of one visitor at a time."""


class UploadError(ExplorerError):
    """A file that one visitor may not upload."""

    section: ClassVar[str] = "explore"


@dataclass(frozen=True, slots=True)
class UploadsState:
    """members: the visitor's uploads by name."""

    members: Mapping[str, Upload] = field(default_factory=dict)


def uploads() -> Mapping[str, Upload]:
    """This visitor's uploads, by name."""
    return session.load(UploadsState).members


def visitor_catalog() -> dict[str, CatalogMember]:
    """Members this visitor may choose from, by name: models that ship, models trained on this
    machine, the directories below the folders named at the start, then the uploads."""
    shipped, mine = catalog.shipped_models(), uploads()
    known = {**shipped, **trained_models({*shipped, *mine})}
    return {**known, **model_directories({*known, *mine}), **mine}


def run_model(run: Run) -> TrainedModel:
    """The model of a run, as this visitor's catalog has it. Raises `FileError`,
    `CheckpointError`."""
    return model_of_run(run, {*catalog.shipped_models(), *uploads()})


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
    session.save(UploadsState({**mine, name: replace(upload, name=name)}))
    return name


def delete_upload(name: str) -> None:
    """Drop an upload. If it is the chosen model, choose the first model of the catalog."""
    session.save(UploadsState({key: one for key, one in uploads().items() if key != name}))
    if visit_state.current().request.model == name:
        remaining = visitor_catalog()
        visit_state.choose_model(next(iter(remaining)), remaining)
