"""The `.trace` file: an npz archive of arrays with a JSON header inside, without pickles."""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError

FORMAT_VERSION = 1
LARGEST_FILE = 512 * 2**20
"""Bytes to which a file may unfold."""


def pack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> bytes:
    """The bytes of a file that `unpack` reads back exactly; `header`: JSON values."""
    text = json.dumps({"version": FORMAT_VERSION, **header}, ensure_ascii=False).encode()
    members: dict[str, Any] = {"header": np.frombuffer(text, np.uint8), **arrays}
    file = io.BytesIO()
    np.savez_compressed(file, **members)
    return file.getvalue()


def unpack(
    data: bytes, name: str, limit: int = LARGEST_FILE
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and header of a file called `name`; `limit`: bytes to which it may unfold.

    Raises `TraceError` on another version and on a larger file, before it is unfolded. A
    malformed file raises whatever zip, NumPy and JSON raise.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > limit:
            raise TraceError("trace_too_large", name=name, limit=limit // 2**20)
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    if header.pop("version", None) != FORMAT_VERSION:
        raise TraceError("trace_version", name=name, version=FORMAT_VERSION)
    return arrays, header
