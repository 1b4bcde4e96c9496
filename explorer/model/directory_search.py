"""The model directories below the folders that were named at the start, by name.

A model directory has a config and weights. Links to folders are not followed: nothing outside the
named folders is listed. A visitor chooses a name from this list, never a path.
"""

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from explorer.core.errors import ExplorerError, ModelDirectoryError
from explorer.core.files import log_skipped, opened, printable, reason
from explorer.model.huggingface.opening.directory_files import (
    CONFIG,
    read_config,
    tokenizer_among,
    weights_among,
)
from explorer.model.huggingface.opening.hub import model_name, snapshot
from explorer.model.model_directory import DirectoryModel, directory_model

MOST_DEPTH = 4
"""Largest depth of a model below a named folder; it is three in the cache of the library's hub."""

MOST_MODELS = 200
MOST_FOLDERS = 5_000
"""Folders that are looked into."""

_GENERATION = "generation_config.json"


@dataclass(frozen=True, slots=True)
class FoundDirectory:
    """A model directory.

    stamp: changes whenever one of its files changes.
    weight_bytes: size of its weight files. ids: True without a tokenizer.
    """

    path: Path
    stamp: str
    weight_bytes: int
    ids: bool


def find_directories(roots: Iterable[Path]) -> tuple[FoundDirectory, ...]:
    """The model directories at and below `roots`; within a root, the least deep first."""
    found: dict[Path, FoundDirectory] = {}
    looked = 0
    for root in roots:
        for folder, files in _folders(root):
            looked += 1
            if looked > MOST_FOLDERS or len(found) >= MOST_MODELS:
                most = f"only {MOST_FOLDERS} folders and {MOST_MODELS} models are listed"
                log_skipped(folder, most)
                return tuple(found.values())
            model = _found(folder, files)
            if model is not None:
                found.setdefault(folder, model)
    return tuple(found.values())


def named_models(
    found: Iterable[FoundDirectory], taken: Container[str] = ()
) -> dict[str, DirectoryModel]:
    """The catalog members of model directories, by name.

    The name is that of the directory, or of the model in the cache of the hub. A name that is not
    unique is prefixed with the parent folder, and then numbered.

    taken: names of other models.
    """
    listed = sorted(found, key=lambda one: (model_name(one.path).lower(), str(one.path)))
    uses = Counter(model_name(directory.path) for directory in listed)
    models: dict[str, DirectoryModel] = {}
    for directory in listed:
        name = model_name(directory.path)
        if (uses[name] > 1 or name in taken) and name == directory.path.name:
            name = f"{directory.path.parent.name}/{name}"
        first, number = name, 2
        while name in models or name in taken:
            name, number = f"{first} ({number})", number + 1
        models[name] = _member(name, directory)
    return models


@lru_cache(maxsize=4 * MOST_MODELS)
def _member(name: str, found: FoundDirectory) -> DirectoryModel:
    try:
        described = read_config(found.path)
    except (ModelDirectoryError, OSError):
        described = {}  # choosing it says what is wrong
    return directory_model(name, found.stamp, found.path, described, found.weight_bytes, found.ids)


def _folders(root: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """`root` and the folders below it, with their files, level by level."""
    level = [root]
    for _ in range(MOST_DEPTH + 1):
        below: list[Path] = []
        for folder in level:
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                log_skipped(folder, reason(error))
                continue
            files = [entry for entry in listed if not _is_folder(entry)]
            if version := snapshot(folder):
                below.append(version)  # the others are older
            else:
                inner = (entry for entry in listed if entry.is_dir(follow_symlinks=False))
                below += [Path(entry.path) for entry in inner if not entry.name.startswith(".")]
            yield folder, files
        level = below


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or a link to one; False for a circular link."""
    with suppress(OSError):
        return entry.is_dir()
    return False


def _found(folder: Path, files: list[os.DirEntry[str]]) -> FoundDirectory | None:
    """The model directory in a folder, or None if there is none or it cannot be read."""
    names = {file.name for file in files}
    if CONFIG not in names or not weights_among(names):
        return None
    if printable(str(folder)) != str(folder):
        log_skipped(folder, "its name cannot be shown")
        return None
    try:
        return _whole(folder, names)
    except (ExplorerError, OSError) as error:
        log_skipped(folder, reason(error) if isinstance(error, OSError) else error)
        return None


def _whole(folder: Path, names: set[str]) -> FoundDirectory:
    """The model in `folder`. Raises `FileError` and `OSError` if a file cannot be read.

    names: the files in it.
    """
    weights, tokenizer = weights_among(names), tokenizer_among(names)
    with opened(folder / CONFIG):
        pass
    marks, sizes = [str(folder)], {}
    for name in {*weights, *tokenizer, CONFIG, _GENERATION} & names:
        status = (folder / name).stat()
        sizes[name] = status.st_size
        marks.append(f"{name}:{status.st_mtime_ns}:{status.st_size}")
    stamp = blake2b("\n".join(sorted(marks)).encode(), digest_size=16).hexdigest()
    return FoundDirectory(folder, stamp, sum(sizes[name] for name in weights), not tokenizer)
