"""The models of the runs of this machine, as members of the catalog.

Whoever may watch a run may open its model, guests in class mode included, so the host's link works
for all. A run in training is listed with its latest stored model. Its stamp changes with the file,
and so does everything cached for the model.
"""

from collections.abc import Container
from functools import lru_cache
from pathlib import Path

import numpy as np

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.field_kinds import MOST_FORCED
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.jobs.training_run import Run, find_run
from explorer.model.catalog import TRAINED_PREFIX, TrainedModel, trained_model
from explorer.model.checkpoint_header import read_header


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


def look_ahead_head(run: Run) -> tuple[int, int] | None:
    """Layer and number of the decoder head that looks most at the next position, on the probe of
    the run's last moment. None without a probe."""
    moments = run.moments()
    if not moments:
        return None
    path = run.probe_path(moments[-1]["step"])
    try:
        return _look_ahead_head(path, path.stat().st_mtime_ns)
    except (ExplorerError, OSError):
        return None


def probe_request(run: Run, model: str) -> Request | None:
    """Request for the probe of the run's last moment, with its right answer forced; `model` is the
    name of the run's model in the catalog. None without a probe."""
    moments = run.moments()
    try:
        facts = run.probe(moments[-1]["step"]).facts if moments else {}
    except ExplorerError:
        return None
    if not {"text", "forced"} <= facts.keys():
        return None
    forced = sorted((int(step), int(token)) for step, token in facts["forced"].items())
    return Request(model, str(facts["text"]), forced=tuple(forced[:MOST_FORCED]))


@lru_cache(maxsize=64)
def _look_ahead_head(path: Path, changed: int) -> tuple[int, int] | None:
    trace = Trace.load(path)
    if "decoder" not in trace.sites:
        return None
    ahead = np.diagonal(trace.attention("decoder"), offset=1, axis1=2, axis2=3)
    if ahead.shape[-1] == 0:
        return None
    weights = ahead.mean(axis=-1)  # (layer, head)
    layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(layer), int(head)


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
