"""Reading and writing files: regular files only, atomically, and with the errors of the system as
`FileError`."""

import glob
import logging
import math
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from explorer.core.errors import ExplorerError, FileError

_LOG = logging.getLogger("explorer")
_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0)  # Windows has neither such files nor the flag
_BINARY = getattr(os, "O_BINARY", 0)

_UNFINISHED = ".unfinished"
"""Ending of a file that is still written."""

replacing = threading.RLock()
"""Held while a file is replaced. A thread that holds it can end the process at once, and no
temporary file stays behind."""


def as_path(path: object) -> Path:
    """A path that a caller gave. Raises `FileError` if it is not a path."""
    if not isinstance(path, str | os.PathLike):
        raise FileError("no_path", got=type(path).__name__)
    if path == "":
        raise FileError("empty_path")
    return Path(path)


def _shown(path: Path) -> str:
    """The name of a path for a sentence; the whole path if it has no name, as "." and "/"."""
    return printable(path.name or str(path))


def reason(error: OSError) -> str:
    """The system's message, such as "No space left on device"; else the name of the class."""
    return error.strerror or type(error).__name__


def unwritable(path: Path, error: OSError) -> FileError:
    """The error to raise if `path` cannot be written."""
    return FileError("unwritable_file", name=_shown(path), reason=reason(error))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise `FileError` if the block cannot read `path`, or if it is not UTF-8."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise FileError("not_in_utf8", name=_shown(path)) from error
    except IsADirectoryError as error:
        raise FileError("is_folder", name=_shown(path)) from error
    except (OSError, UnicodeError) as error:
        told = reason(error) if isinstance(error, OSError) else str(error)
        raise FileError("unreadable_file", name=_shown(path), reason=told) from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading. Raises `FileError` on anything else.

    A FIFO without a writer would block `open` forever, so it is opened without blocking.
    """
    with reading(path):
        if "\0" in str(path):
            raise OSError(22, "NUL in a path")
        if path.is_dir():  # which Windows would report as a lack of permission
            raise IsADirectoryError(21, "it is a folder")
        descriptor = os.open(path, os.O_RDONLY | _NON_BLOCKING | _BINARY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileError("no_regular_file", name=_shown(path))
            yield file


def size_of(file: BinaryIO) -> int:
    """The bytes of an open file."""
    return os.fstat(file.fileno()).st_size


def byte_count(count: int) -> str:
    """A number of bytes in KB or, from 1 MB on, in MB: "256 KB", "1.5 MB".

    Rounded up, so that a size above a limit never reads as that limit.
    """
    unit, name = (2**20, "MB") if count >= 2**20 else (2**10, "KB")
    return f"{math.ceil(10 * count / unit) / 10:g} {name}"


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """The contents of a regular file. Raises `FileError`, also when it has over `most` bytes."""
    with opened(path) as file:
        if most is not None and size_of(file) > most:
            size, limit = (byte_count(count) for count in (size_of(file), most))
            raise FileError("file_too_large", name=_shown(path), size=size, limit=limit)
        return file.read()


def read_text(path: Path, most: int | None = None) -> str:
    """The contents of a regular file in UTF-8. Raises `FileError` as `read_bytes` does."""
    data = read_bytes(path, most)
    with reading(path):
        return data.decode("utf-8-sig")


def printable(name: str) -> str:
    """A file name with "?" for each byte that UTF-8 cannot encode."""
    return name.encode(errors="replace").decode()


def has_printable_name(path: Path) -> bool:
    """Whether UTF-8 can encode the name of a file, so that a page can show it."""
    return printable(path.name) == path.name


def one_line(text: str) -> str:
    """`text` as UTF-8 can encode it, with control characters escaped.

    In a file name they could end a line or control a terminal.
    """
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


@lru_cache(maxsize=4096)
def _log_once(path: str, why: str) -> None:
    _LOG.warning("skipped %s: %s", path, why)


def log_skipped(path: Path, error: ExplorerError | str) -> None:
    """Log that a file in a folder is skipped: one line, once for each file and reason."""
    _log_once(one_line(str(path)), one_line(str(error)))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `FileError`, with the system's reason, if the block cannot write `path`."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error
    except ValueError as error:  # NUL, or what the system's encoding does not have
        raise FileError("bad_file_name", name=one_line(path.name)) from error


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace the file at `path` by `data`; a reader sees the old file or the new one.

    mode: of the new file. It is never open to more than that.

    Creates the folder if it is missing. Raises `FileError` when the file cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    replace_atomically(path, data, mode)


def replace_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """As `write_atomically`, but raises `FileError` if the folder is missing: for a path that a
    person typed."""
    with replacement(path, mode) as file:
        file.write(data)


@contextmanager
def replacement(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file to write in a block, after which it replaces the one at `path`, as
    `replace_atomically` does: for data that need not be in memory as a whole."""
    with writing(path), replacing:
        descriptor, temporary = _new_file_beside(path)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)  # closed by now: Windows does not replace open files
        except BaseException:
            temporary.unlink()
            raise


def check_output(path: Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise `FileError` if a file at `path` cannot be written later: its folder is missing, or it
    would replace one of the `inputs` that are read."""
    if not path.parent.is_dir():
        raise FileError("no_folder", folder=printable(str(path.parent)), name=_shown(path))
    if any(_is_same(path, Path(given)) for given in inputs if given):
        raise FileError("overwrites_input", name=_shown(path))
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        descriptor, temporary = _new_file_beside(path)
        os.close(descriptor)
        temporary.unlink()


def _is_same(path: Path, other: Path) -> bool:
    """Whether both name one file that exists."""
    with suppress(OSError):
        return path.samefile(other)
    return False


def _new_file_beside(path: Path) -> tuple[int, Path]:
    """A new empty file in the folder of `path`, open for writing, and its path. It is locked until
    it is closed, and those that killed processes left there are removed."""
    _remove_left(path)
    while True:
        prefix, suffix = f"{path.name}.", _UNFINISHED
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=suffix)
        _lock(descriptor)
        if (made := Path(name)).exists():  # not taken for one that was left, before it was locked
            return descriptor, made
        os.close(descriptor)


def _remove_left(path: Path) -> None:
    """Remove what processes that were killed while they wrote `path` have left in its folder."""
    for left in path.parent.glob(f"{glob.escape(path.name)}.????????{_UNFINISHED}"):
        with suppress(OSError, FileError):
            if sys.platform == "win32":  # which removes no file that a process has open
                left.unlink()
                continue
            with opened(left) as file:
                _lock(file.fileno(), wait=False)
                left.unlink()


def _lock(descriptor: int, *, wait: bool = True) -> None:
    """Lock an open file until it is closed. Raises `OSError` if another process has, or, without
    `wait`, if the file system has no locks."""
    if sys.platform != "win32":
        import fcntl

        with suppress(OSError) if wait else nullcontext():
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
