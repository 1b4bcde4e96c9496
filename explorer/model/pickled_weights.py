"""Check a pickle of weights before torch unpickles it: no code runs then, but it may take all
memory."""

import zipfile
from typing import BinaryIO

_LARGEST_PICKLE = 64 * 2**20
"""Bytes that are searched; the pickle, without the numbers of the weights, comes first."""


def asks_for_memory(file: BinaryIO) -> bool:
    """Whether unpickling a file may take any amount of memory. The file is rewound.

    That is so if it has compressed members, which torch never writes, or if it makes a bytearray,
    whose size is only a number in the pickle.
    """
    file.seek(0)
    pickled = file.read(_LARGEST_PICKLE)
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                return True
            names = [member for member in archive.infolist() if member.filename.endswith(".pkl")]
            if any(member.file_size > _LARGEST_PICKLE for member in names):
                return True
            pickled = b"".join(archive.read(member) for member in names)
    except (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, NotImplementedError):
        pass  # no archive: torch reads it as a pickle alone
    file.seek(0)
    return b"bytearray" in pickled
