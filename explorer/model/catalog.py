"""The models and traces to choose from: checkpoints that ship, models trained on this machine, and
a visitor's uploads. Those in directories of the library transformers come from `directory_search`.

Nothing here needs torch: a checkpoint in a file is listed by its header, and loaded by
`explorable.load` when it is first used. Names are looked up here, never used as paths.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeVar, cast

from explorer.core import folders
from explorer.core.errors import ExplorerError, FileError
from explorer.core.files import (
    as_path,
    has_printable_name,
    log_skipped,
    one_line,
    printable,
    reading,
    reason,
)
from explorer.core.trace import Trace
from explorer.model.checkpoint_header import read_header
from explorer.model.listed_model import ListedModel, ModelSummary
from explorer.model.model_directory import DirectoryModel

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel

TRAIN_COMMAND = "python -m explorer train --task reverse --out checkpoints/reverse.safetensors"
"""Makes a model where none ships."""

_ORDER = (
    *("reverse-almost", "reverse", "english-french", "chinese-english", "copy", "sort"),
    *("english", "induction", "reverse-early", "english-french-early"),
)
"""Order of the shipped models; others follow by name."""

_SUFFIX = ".safetensors"

TRAINED_PREFIX = "runs/"
"""Prefix for the name of a trained model whose run has the name of another model."""


@dataclass(frozen=True)
class StoredModel(ListedModel):
    """A Transformer of our own in a file on this machine: every visitor sees it, and it is still
    there after a restart."""

    path: Path

    is_own: ClassVar[Literal[True]] = True
    can_share: ClassVar[Literal[True]] = True


class ShippedModel(StoredModel):
    """A checkpoint in the folder of checkpoints."""

    @property
    def gold_links(self) -> Path:
        """The file of its name in the folder "gold" beside it, if there is one."""
        return self.path.parent / "gold" / f"{self.name}.tsv"

    @property
    def first_trace(self) -> Path:
        """The file of the stored trace of its first example, if there is one."""
        return self.path.parent / "first" / f"{self.name}.trace"


class TrainedModel(StoredModel):
    """The best checkpoint of a training on this machine."""

    origin: ClassVar[str] = "trained"

    @cached_property
    def label(self) -> str:
        """The name of the run."""
        return self.name.removeprefix(TRAINED_PREFIX)


@dataclass(frozen=True)
class UploadedModel(ListedModel):
    """A checkpoint that a visitor uploaded; it is loaded already."""

    model: "ExplorableModel" = field(compare=False, repr=False)

    is_own: ClassVar[Literal[True]] = True
    can_share: ClassVar[Literal[False]] = False
    origin: ClassVar[str] = "uploaded"


@dataclass(frozen=True, slots=True)
class UploadedTrace:
    """A trace that a visitor uploaded, without its model."""

    name: str
    stamp: str
    trace: Trace = field(compare=False, repr=False)

    can_trace: ClassVar[Literal[False]] = False
    can_share: ClassVar[Literal[False]] = False


OwnModel: TypeAlias = StoredModel | UploadedModel
CatalogModel: TypeAlias = OwnModel | DirectoryModel
CatalogMember: TypeAlias = CatalogModel | UploadedTrace
"""Each member has constants that mypy can narrow by: `can_trace`, whether it is a model; `is_own`,
whether the model is a Transformer of our own, which loads at once, and not one of the library;
`can_share`, whether it is stored on this machine, so that a link leads to it."""

Upload: TypeAlias = UploadedModel | UploadedTrace

_Stored = TypeVar("_Stored", bound=StoredModel)


def shipped_models() -> dict[str, ShippedModel]:
    """The listed checkpoints by name, the one to open with first."""
    found: list[ShippedModel] = []
    for path in folders.checkpoints().glob(f"*{_SUFFIX}"):
        try:
            model = _stored(ShippedModel, path.stem, path)
        except OSError as error:
            log_skipped(path, reason(error))
            continue
        found += [model] if model else []
    ranks = {name: rank for rank, name in enumerate(_ORDER)}
    found.sort(key=lambda model: (ranks.get(model.name, len(ranks)), model.name))
    return {model.name: model for model in found}


def named_checkpoint(path: str | Path) -> Path:
    """`path` itself if it exists or is more than a name, else the shipped model of that name.

    "reverse" and "reverse.safetensors" name the same shipped model.

    Raises `FileError` on a name without a suffix that no shipped model has, and if `path` is not a
    path.
    """
    path = as_path(path)
    name = path.name.removesuffix(_SUFFIX)
    with reading(path):  # too long a name is an error of the system
        if path.name != str(path) or Path(name).suffix or path.exists():
            return path
    found = {file.stem: file for file in folders.checkpoints().glob(f"*{_SUFFIX}")}
    if name not in found and name == path.name:
        listed = ", ".join(sorted(found))
        raise FileError("no_shipped_model", name=printable(name), names=listed)
    return found.get(name, path)


def trained_model(name: str, path: Path) -> TrainedModel | None:
    """Model called `name` that a run has stored at `path`, or None without a readable one."""
    with suppress(OSError):
        return _stored(TrainedModel, name, path)
    return None


def _stored(kind: Callable[..., _Stored], name: str, path: Path) -> _Stored | None:
    """The model in a file, or None if it holds none. Raises `OSError`."""
    status = path.stat()
    model = _read(kind, name, path, status.st_mtime_ns, status.st_size)
    return cast("_Stored | None", model)  # `lru_cache` forgets the class


@lru_cache(maxsize=512)
def _read(
    kind: Callable[..., StoredModel], name: str, path: Path, changed: int, size: int
) -> StoredModel | None:
    """The model in a file, from its header, or None if it is not a checkpoint; then it is not
    listed.

    changed, size: of the file, as the key of the cache; a changed file is read again.
    """
    try:
        if not has_printable_name(path):
            raise FileError("bad_file_name", name=one_line(path.name))
        header = read_header(path)
        symbols, _ = header.symbols("source"), header.symbols("target")
        summary = ModelSummary.of(asdict(header.config), symbols, header.facts)
    except ExplorerError as error:
        log_skipped(path, error)
        return None
    return kind(name, f"{path}:{changed}:{size}", summary, path)
