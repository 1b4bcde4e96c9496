"""Models in the cache of the library's hub. Nothing is fetched here.

Each model has a folder `models--OWNER--NAME`, with a snapshot of the files of each fetched version.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from explorer.core.errors import ModelDirectoryError
from explorer.core.files import printable
from explorer.core.vocabulary import shorten
from explorer.model.huggingface.directory_files import CONFIG, weights_among
from explorer.model.huggingface.other_contents import ADAPTER, refuse_absent_parts

FOLDER = "models--"
"""Prefix of the name of a model's folder in the cache."""

_SNAPSHOTS = "snapshots"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_ADDRESS = re.compile(r"(https?:/)?/?(www\.)?(huggingface\.co|hf\.co)/")
_PAGES = re.compile(r"/(tree|blob|resolve|raw|commits|discussions)(/.*)?$")
"""Pages of a model, after its name in an address."""

_HASH = re.compile(r"[0-9a-zA-Z]+")


def model_name(path: Path) -> str:
    """Display name of the model in a directory.

    "openai-community/gpt2" for a folder of the cache or a snapshot in it, else the name of the
    directory.
    """
    path = path if path.name else path.resolve()  # "." has no name
    for folder in (path, path.parent.parent):
        if folder.name.startswith(FOLDER) and (folder is path or path.parent.name == _SNAPSHOTS):
            return folder.name.removeprefix(FOLDER).replace("--", "/")
    return path.name


def snapshot(path: Path) -> Path | None:
    """Path of the version in a model's folder of the cache: "main" as last fetched, else the
    newest.

    None without a version, and for any other folder.
    """
    if not path.name.startswith(FOLDER):
        return None
    with suppress(OSError):
        named = (path / "refs" / "main").read_text("utf-8").strip()
        if _HASH.fullmatch(named) and (path / _SNAPSHOTS / named).is_dir():
            return path / _SNAPSHOTS / named
    with suppress(OSError), os.scandir(path / _SNAPSHOTS) as entries:
        found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        newest = max(found, key=lambda entry: (entry.stat().st_mtime_ns, entry.name), default=None)
        return None if newest is None else Path(newest.path)
    return None


def is_whole(path: Path) -> bool:
    """Whether a snapshot has a config and all files with weights, or an adapter."""
    names = [file.name for file in path.iterdir()]
    try:
        refuse_absent_parts(path, names)
    except ModelDirectoryError:
        return False
    return (CONFIG in names and bool(weights_among(names))) or ADAPTER in names


def hub_name(path: Path) -> str | None:
    """`path` as a name of the hub, "openai-community/gpt2" or "gpt2", else None."""
    name = path.as_posix()
    return name if _NAME.fullmatch(name) and not name.endswith(".safetensors") else None


def refuse_other_names(path: Path) -> None:
    """Raise `ModelDirectoryError` if `path` looks like a model of the hub but is no `hub_name`:
    an address, a name with a version, or a name with more than an owner before it."""
    given = path.as_posix()
    written = given.replace(":/", "://", 1) if given.startswith("http") else given
    shown = {"name": shorten(printable(written))}
    bare = _ADDRESS.sub("", given, 1)
    is_address = bare != given
    own, _, version = (_PAGES.sub("", bare) if is_address else bare).partition("@")
    if (is_address or version) and hub_name(Path(own)) is not None:
        raise ModelDirectoryError("hub_address", own=own, **shown)
    parts = own.split("/")
    are_names = all(_NAME.fullmatch(part) for part in parts)
    if is_address or (are_names and len(parts) > 2 and not Path(own).suffix[1:].isalpha()):
        raise ModelDirectoryError("no_hub_name", **shown)


def cached(name: str) -> Path | None:
    """Snapshot of a hub model in the cache of this computer, set by HF_HUB_CACHE and HF_HOME.

    None if the model is not there, and without the library.
    """
    try:
        from huggingface_hub.constants import HF_HUB_CACHE  # late: it comes with transformers
    except ImportError:
        return None
    return snapshot(Path(HF_HUB_CACHE) / f"{FOLDER}{name.replace('/', '--')}")
