"""Reading and writing files: atomically, and with the errors of the system as `FileError`."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.core.errors import FileError


def reason(error: OSError) -> str:
    """What the system says, such as "No space left on device"; else the name of the class."""
    return error.strerror or type(error).__name__


def unwritable(path: Path, error: OSError) -> FileError:
    """The error to raise where `path` cannot be written."""
    return FileError("unwritable_file", name=path.name, reason=reason(error))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise `FileError` where the block cannot read `path`, or finds it is not in UTF-8."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise FileError("unreadable_file", name=path.name) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `FileError`, with the system's reason, where the block cannot write `path`."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data`; a reader sees the old file or the new one.

    Makes the folder where there is none. Raises `FileError` when the file cannot be written.
    """
    with writing(path):
        with _new_file_beside(path) as file:
            temporary = Path(file.name)
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                temporary.unlink()
                raise
        temporary.chmod(0o644)
        temporary.replace(path)  # closed by now: Windows does not replace open files


def refuse_unwritable(path: Path) -> None:
    """Raise `FileError` now when a file at `path` could not be written later."""
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with _new_file_beside(path) as file:
            name = file.name
        Path(name).unlink()


def _new_file_beside(path: Path) -> "tempfile._TemporaryFileWrapper[bytes]":
    path.parent.mkdir(parents=True, exist_ok=True)
    return tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False)
