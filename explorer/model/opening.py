"""Open any model: a checkpoint file of the explorer, a directory of the library transformers, or
an upload. Write one trained here as such a directory."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core.errors import CheckpointError, FileError, ModelDirectoryError
from explorer.core.files import as_path, printable, reading
from explorer.core.sentencepiece_check import refuse_harmful
from explorer.core.trace import Trace
from explorer.core.trace_file import LARGEST_UPLOADED
from explorer.core.vocabulary import shorten
from explorer.model.catalog import Upload, UploadedModel, UploadedTrace, named_checkpoint
from explorer.model.checkpoint import from_bytes, piece_models
from explorer.model.explorable import ExplorableModel
from explorer.model.explorable import load as load_checkpoint
from explorer.model.huggingface.opening import hub
from explorer.model.huggingface.opening.hub import EXTRA, has_library

if TYPE_CHECKING:
    from explorer.model.huggingface.traced_model import HuggingFaceModel

TRACE_SUFFIXES = (".trace", ".npz")
"""Of files that `Trace.load` reads."""

_MODELS_OF_RUN = ("checkpoint.safetensors", "best.safetensors")
"""In the folder of a run, see `training.recorded_run`."""


def load(
    path: str | Path, name: str | None = None, *, download: bool = False, **options: Any
) -> "ExplorableModel | HuggingFaceModel":
    """The model in a checkpoint file, or in a directory with a `config.json`.

    Arguments and errors as of `explorer.load`; options: of `load_directory`, without effect on a
    checkpoint.
    """
    path = located(path, download=download)
    with reading(path):  # too long a name is an error of the system
        is_directory = path.is_dir()
    if is_directory:
        if _is_run(path):
            raise _inside_run(path, path)
        return load_directory(
            path if path.name else path.resolve(), name, **options
        )  # "." has none
    try:
        return load_checkpoint(path, name)
    except CheckpointError as error:
        if _is_run(path.parent) and path.name not in _MODELS_OF_RUN:
            raise _inside_run(path, path.parent) from error
        if _is_run(path.parent) or not (path.parent / "config.json").is_file():
            raise
        named = {"name": path.name, "directory": str(path.parent)}
        raise ModelDirectoryError("inside_directory", **named) from error


def _is_run(folder: Path) -> bool:
    """Whether `folder` is that of a training's run, whose model was saved."""
    return all((folder / name).is_file() for name in (_MODELS_OF_RUN[0], "metrics.jsonl"))


def _inside_run(path: Path, folder: Path) -> CheckpointError:
    """The error for something of a run that is not its model."""
    checkpoint = printable(str(folder / _MODELS_OF_RUN[0]))
    return CheckpointError("inside_run", name=printable(str(path)), checkpoint=checkpoint)


def located(path: str | Path, *, download: bool = False) -> Path:
    """Path of a model that a person names.

    `path` itself if it exists, else the file of a model that ships, else a snapshot in the cache of
    the hub, which `download` fetches or brings up to date.

    Raises `FileError` and `ModelDirectoryError` if there is none.
    """
    unknown: FileError | None = None
    try:
        path = named_checkpoint(path)
    except FileError as error:
        if error.key != "no_shipped_model":
            raise
        path, unknown = as_path(path), error
    with reading(path):
        there = path.exists()
    if there or not has_library() or not hub.is_name(path):
        if unknown is not None:
            raise unknown
        return path
    name = path.as_posix()
    snapshot = hub.download(name) if download else hub.cached(name)
    if snapshot is not None:
        return snapshot
    if unknown is not None:
        raise FileError("no_named_model", **unknown.facts)
    raise ModelDirectoryError("not_in_cache", name=printable(name))


def load_directory(
    path: Path, name: str | None = None, *, dtype: str = "float32"
) -> "HuggingFaceModel":
    """The model in a directory, or in a folder of the cache of the hub.

    dtype: of the model in memory, whatever its files have.

    Raises `ModelDirectoryError`.
    """
    path = hub.snapshot(path) or path
    if not has_library():
        raise ModelDirectoryError("not_installed", name=path.name, command=EXTRA)
    # Imported late: the library takes a second, and need not be installed.
    from explorer.model.huggingface.opening.loading import open_directory

    return open_directory(path, name, dtype)


def export_huggingface(model: ExplorableModel, path: str | Path) -> float:
    """Write `model` to the directory `path` for the library transformers: a model with the same
    logits, with a tokenizer that gives the same ids, which `explorer.load` opens again.

    Returns the largest difference of a logit, measured before writing; at most 1e-4.

    Raises `ModelDirectoryError` if the library has no class for the model (for example with two
    vocabularies), if the directory is not empty, or without the library. Raises `FileError`.
    """
    folder = as_path(path)
    if not isinstance(model, ExplorableModel):
        raise ModelDirectoryError("export_other", got=type(model).__name__)
    if not has_library():
        raise ModelDirectoryError("export_not_installed", command=EXTRA)
    # Imported late: the library takes a second, and need not be installed.
    from explorer.model.huggingface.export import export_directory

    return export_directory(model, folder)


def read_upload(file_name: str, data: bytes) -> Upload:
    """The model in an uploaded file or, if its name ends as `TRACE_SUFFIXES`, the trace.

    Raises `CheckpointError`, `VocabularyError`, `TraceError`.
    """
    shown = shorten(Path(file_name).name)
    stem = shorten(Path(file_name).stem) or "upload"
    stamp = sha256(data).hexdigest()
    if (suffix := Path(file_name).suffix.lower()) in TRACE_SUFFIXES:
        trace = Trace.from_bytes(data, shown, limit=LARGEST_UPLOADED)
        return UploadedTrace(f"{stem}{suffix}", stamp, trace)
    for proto in piece_models(data, shown):
        refuse_harmful(proto, shown)
    checkpoint = from_bytes(data, shown)
    return UploadedModel(stem, stamp, checkpoint.summary, ExplorableModel(checkpoint, stem))
