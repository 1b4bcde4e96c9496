"""Models of the hub of the library, in its cache on this computer, or fetched if a person asks.

Each has a folder `models--OWNER--NAME` in the cache, with a snapshot of each fetched version.
"""

import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.opening.directory_files import (
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    weights_among,
)

EXTRA = "pip install transformers accelerate"
"""Command that installs the library."""

FOLDER = "models--"
"""Prefix of the name of a model's folder in the cache."""

_SMALL = ["*.json", "*.jinja", "*.txt", "*.model", "*.spm", "*.tiktoken", "bpe.codes"]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


def has_library() -> bool:
    """Whether the library is installed; it is not imported."""
    try:
        return find_spec("transformers") is not None
    except ValueError:  # hidden, as by `sys.modules["transformers"] = None`
        return False


def is_name(path: Path) -> bool:
    """Whether `path` may be the name of a model of the hub, "openai-community/gpt2" or "gpt2"."""
    return _NAME.fullmatch(path.as_posix()) is not None and path.suffix != ".safetensors"


def model_name(path: Path) -> str:
    """Display name of the model in a directory.

    "openai-community/gpt2" for a folder of the cache or a snapshot in it, else the name of the
    directory.
    """
    path = path if path.name else path.resolve()  # "." has no name
    folder = path.parent.parent if path.parent.name == "snapshots" else path
    if folder.name.startswith(FOLDER):
        return folder.name.removeprefix(FOLDER).replace("--", "/")
    return path.name


def cached(name: str, cache: Path | None = None) -> Path | None:
    """Snapshot of the model `name` in the cache of the hub; None without one, and without the
    library."""
    try:
        from huggingface_hub import try_to_load_from_cache  # late: it comes with the library
    except ImportError:
        return None
    try:
        found = try_to_load_from_cache(name, CONFIG, cache_dir=cache)
    except ValueError:  # no name of a model
        return None
    return Path(found).parent if isinstance(found, str) else None


def snapshot(path: Path) -> Path | None:
    """The version in a model's folder of the cache, as last fetched; None for any other folder."""
    return cached(model_name(path), path.parent) if path.name.startswith(FOLDER) else None


def whole(name: str) -> Path | None:
    """As `cached`, of a model with weights and tokenizer: a fetch that was cancelled leaves some of
    the files."""
    folder = _folder(name)
    found = cached(name) if folder and folder.is_dir() else None  # else it imports much in vain
    if found is None or not (found / TOKENIZER).exists():
        return None
    return found if weights_among(file.name for file in found.iterdir()) else None


def fetched_bytes(name: str) -> int:
    """Size of all files of the model `name` in the cache, unfinished ones included."""
    sizes = 0
    for file in _blobs(name, "*"):
        with suppress(OSError):  # finished by now, under another name
            sizes += file.stat().st_size
    return sizes


def delete_unfinished(name: str) -> None:
    """Delete the files that a fetch of the model `name` has not finished and no other one goes on
    with: the library gives them names of their own (ETAG.NUMBER.incomplete)."""
    for file in _blobs(name, "*.*.incomplete"):
        file.unlink(missing_ok=True)


def _blobs(name: str, pattern: str) -> list[Path]:
    folder = _folder(name)
    return list((folder / "blobs").glob(pattern)) if folder else []


def _folder(name: str) -> Path | None:
    """Folder of the model `name` in the cache, which need not be there; None without the
    library."""
    try:
        from huggingface_hub import constants  # late, as in `cached`
    except ImportError:
        return None
    return Path(constants.HF_HUB_CACHE) / f"{FOLDER}{name.replace('/', '--')}"


def download(name: str) -> Path:
    """Fetch the files of the model `name` that are read here, with the library's progress bars.

    Returns its snapshot in the cache. Raises `ModelDirectoryError`.
    """
    from huggingface_hub import snapshot_download  # late, as in `cached`

    try:
        for weights in WEIGHTS:
            wanted = [*_SMALL, weights]
            found = snapshot_download(name, allow_patterns=wanted, ignore_patterns="*/*")
            if weights_among(file.name for file in Path(found).iterdir()):
                break
    except Exception as error:  # of the network, the file system and the library
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ModelDirectoryError("hub_failed", name=name, reason=reason) from error
    return Path(found)
