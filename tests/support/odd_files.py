"""Files that a person, a crash or an attacker may leave in a folder."""

import copy
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ODD_KINDS = ("missing", "dangling link", "fifo", "directory", "empty", "truncated")

DEEP = "[" * 10_000 + "]" * 10_000

ODD_CONTENTS = {
    "wrong type": "3",
    "list": "[]",
    "null": "null",
    "not a number": "NaN",
    "infinity": "-Infinity",
    "large integer": str(2**70),
    "deep": DEEP,
    "deep object": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "lone surrogate": '"\\ud800"',
    "raw surrogate": '"\ud800"',
}
"""Texts that are no settings, status, report …, by name."""

ODD_VALUES = (
    "null", "[]", "{}", '"x"', '""', "true", "-1", "0", "1.5", "NaN", "Infinity", "-Infinity",
    str(2**70), "9" * 400, "1e999", DEEP, '"\\ud800"', "[[1]]", '[{"a": null}]', '{"\\udfff": 1}',
    '"' + "x" * 5000 + '"',
)  # fmt: skip
"""JSON texts put in the place of a value."""

MUTATIONS = int(os.environ.get("MUTATIONS", "30"))
"""Mutations of one kind of file; `make verify` has more."""

MOST_VALUES = MUTATIONS if MUTATIONS < 300 else 100_000
"""Odd values that are tried in one kind of file; `make verify` tries each of them."""

_MARK = "\ue000odd\ue000"


def make_odd(path: Path, odd: str, good: bytes) -> None:
    """Make `path` what `odd` names; `good`: the contents it should have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match odd:
        case "missing":
            pass
        case "dangling link":
            path.symlink_to("nowhere")
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "empty":
            path.write_bytes(b"")
        case "truncated":
            path.write_bytes(good[: len(good) // 2])
        case _:
            path.write_bytes(ODD_CONTENTS[odd].encode(errors="surrogatepass"))


def with_odd_values(value: Any, most: int = MOST_VALUES) -> Iterator[str]:
    """JSON texts of `value` in which one value at a time is odd or missing, `most` of them, drawn
    with a seed."""
    paths = list(_paths(value))
    total = len(paths) * (len(ODD_VALUES) + 1)
    for index in sorted(np.random.default_rng(total).permutation(total)[:most].tolist()):
        path, which = paths[index // (len(ODD_VALUES) + 1)], index % (len(ODD_VALUES) + 1)
        changed = copy.deepcopy(value)
        parent = changed
        for key in path[:-1]:
            parent = parent[key]
        if which == len(ODD_VALUES):
            del parent[path[-1]]
            yield json.dumps(changed)
        else:
            parent[path[-1]] = _MARK
            yield json.dumps(changed).replace(json.dumps(_MARK), ODD_VALUES[which])


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to every value inside a JSON value; of a list, to the first and last item."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*above, key)
            yield from _paths(item, (*above, key))
    elif isinstance(value, list) and value:
        for index in {0, len(value) - 1}:
            yield (*above, index)
            yield from _paths(value[index], (*above, index))


def checkpoint_with(data: bytes, **changes: str) -> bytes:
    """The same tensors with other texts beside them, whatever these are."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["__metadata__"] |= changes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def trace_with(data: bytes, header: str | None) -> Any:
    """The same trace with the text `header`; without one, its present header, parsed."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if header is None:
        return json.loads(arrays["header"].tobytes())
    arrays["header"] = np.frombuffer(header.encode(errors="surrogatepass"), np.uint8)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()
