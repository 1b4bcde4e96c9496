"""The `.trace` file: an npz archive of arrays with a JSON header inside, without pickles."""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from explorer.core import json_values
from explorer.core.errors import TraceError
from explorer.core.trace_size import SHARED_TRACE, largest_trace

FORMAT_VERSION = 2
"""Version 2 added masks by layer, the reason "outside the window" and attention sinks."""

_READ = (1, 2)
LARGEST_HEADER = 4 * 2**20
"""Bytes of the JSON header."""

MOST_MEMBERS = 256
"""Arrays in a file, the header included."""


def _unpacked(attention: int) -> int:
    """Most bytes of a file: attention, one mask byte a weight, and 64 MiB for the rest."""
    return attention + attention // 4 + 64 * 2**20


LARGEST_FILE = _unpacked(SHARED_TRACE)
"""Most bytes of an unpacked file that anybody may have written."""

LARGEST_UPLOADED = 128 * 2**20
"""Most bytes of an unpacked uploaded file; it stays in memory during the session."""

_MEMBER = re.compile(r"[a-z]+(\.[a-z_]+)?\.npy")
_END = b"PK\x05\x06"  # of a zip archive: its end record, then the number and size of its entries
_END_SIZE = 22  # bytes of that record without its comment
_ZIP64 = b"PK\x06\x07"  # in front of it in an archive with over 65,535 members or 2 GiB
_NEEDS_ZIP64 = 2**31  # bytes
_LONGEST_ENTRY = 256  # bytes in the directory for a member with a name as above


def largest_saved() -> int:
    """Most bytes of an unpacked file on this machine, which may have saved its largest trace."""
    return _unpacked(largest_trace())


def pack(file: BinaryIO, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> None:
    """Write to `file` what `unpack` reads back exactly; `header`: JSON values."""
    text = json.dumps({"version": FORMAT_VERSION, **header}, ensure_ascii=False).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in {"header": np.frombuffer(text, np.uint8), **arrays}.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            # Floats hardly shrink, and deflating them takes tens of times as long as copying.
            floats = array.dtype.kind == "f"
            member.compress_type = zipfile.ZIP_STORED if floats else zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, array, allow_pickle=False)


def unpack(
    data: bytes, name: str, limit: int = LARGEST_FILE
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and header of a file called `name`; of an archive that `np.savez` wrote, {}.

    limit: most bytes when unpacked. Raises `TraceError` on another version, on pickled arrays, and
    on a file with too many or too large members, before it is unpacked. A malformed file raises the
    exceptions of zip, NumPy and JSON.
    """
    _refuse_many_members(data, name)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise TraceError("no_trace", name=name)
        if sum(member.file_size for member in members) > limit:
            raise TraceError("trace_too_large", name=name, limit=limit // 2**20)
        if "header.npy" not in archive.namelist():
            return _saved_arrays(data, name), {}
        if archive.getinfo("header.npy").file_size > LARGEST_HEADER:
            raise TraceError("trace_header_too_large", name=name, limit=LARGEST_HEADER // 2**20)
        if not all(_MEMBER.fullmatch(member.filename) for member in members):
            raise TraceError("no_trace", name=name)
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        header = json_values.parse_object(archive["header"].tobytes())
        _refuse_version(header.pop("version", None), name)
        arrays = {key: archive[key] for key in archive.files if key != "header"}
    for array in arrays.values():
        array.flags.writeable = False  # so that a `Trace` does not copy it
    return arrays, header


def _saved_arrays(data: bytes, name: str) -> dict[str, NDArray[Any]]:
    """The arrays of an archive without a header."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        try:
            return {key: archive[key] for key in archive.files}
        except ValueError as error:
            if "pickle" in str(error):
                raise TraceError("pickled_arrays", name=name) from error
            raise


def _refuse_version(version: Any, name: str) -> None:
    """Raise `TraceError` on a version that is not read."""
    if type(version) is not int or version < 1:
        got = json.dumps(version, ensure_ascii=False)[:80]
        raise TraceError("no_trace_version", name=name, got=got)
    if version not in _READ:
        raise TraceError("trace_version", name=name, version=FORMAT_VERSION)


def _refuse_many_members(data: bytes, name: str) -> None:
    """Raise `TraceError` when the archive lists more than `MOST_MEMBERS`.

    Read from the size of the directory at its end: opening the archive would first create an object
    for each member.
    """
    end = len(data) - _END_SIZE
    if not (data.startswith(_END, max(end, 0)) and data.endswith(b"\0\0")):  # it has a comment
        end = data.rfind(_END, max(0, end - 2**16))
    listed = int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0
    large = data[max(end - 20, 0) : max(end, 0)].startswith(_ZIP64)
    if (large and len(data) < _NEEDS_ZIP64) or listed > MOST_MEMBERS * _LONGEST_ENTRY:
        raise TraceError("no_trace", name=name)
