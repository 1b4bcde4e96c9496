"""What a pickle of weights may ask for before torch unpickles it, which runs no code but may still
take all memory."""

import zipfile
from typing import BinaryIO

_LARGEST_PICKLE = 64 * 2**20
"""Bytes that are looked through; the pickle of weights, without their numbers, comes first."""


def asks_for_memory(file: BinaryIO) -> bool:
    """Whether a file has compressed members, which torch never writes and which may unfold to any
    size, or makes an array of bytes, of which a few letters name any size. The file is left at its
    beginning."""
    file.seek(0)
    pickled = file.read(_LARGEST_PICKLE)
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            if any(one.compress_type != zipfile.ZIP_STORED for one in archive.infolist()):
                return True
            names = [one for one in archive.infolist() if one.filename.endswith(".pkl")]
            if any(one.file_size > _LARGEST_PICKLE for one in names):
                return True
            pickled = b"".join(archive.read(one) for one in names)
    except (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, NotImplementedError):
        pass  # no archive: torch reads it as a pickle alone
    file.seek(0)
    return b"bytearray" in pickled
