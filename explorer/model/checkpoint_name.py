"""Path of a checkpoint that a person names: a file, or a model that ships."""

from pathlib import Path

from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.files import as_path, printable, reading

_SUFFIX = ".safetensors"


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
