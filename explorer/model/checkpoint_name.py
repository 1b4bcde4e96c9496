"""Where a checkpoint is that a person names: a file, or a model that ships."""

from pathlib import Path

from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.files import as_path, printable, reading

_SUFFIX = ".safetensors"


def named_checkpoint(path: str | Path) -> Path:
    """`path` itself where it exists or is more than a name; else the file of the model that ships
    under this name, "reverse" or "reverse.safetensors".

    Raises `FileError` on a name without a suffix that none has, and on what is no path.
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
