"""A file that is refused takes little memory and time, whatever it says of its size."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

from tests.support.sample import sampled

MOST_MEMORY = 200
"""Megabytes above those of a process that has opened nothing."""

MOST_SECONDS = 4.0
"""Of processor time: twice what is asked for, as other processes share the caches."""

# VmHWM, because the maximum that getrusage tells is that of the parent where it was larger.
_CHILD = """
import json, os, sys, time
from pathlib import Path
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace
from explorer.data.parallel_corpus import read_pairs
from explorer.heads.reports.head_report import HeadReport
from explorer.model.catalog import shipped_models
from explorer.model.checkpoint import from_bytes, load_checkpoint
from explorer.model.opening import read_upload
from explorer.jobs.training_run import Run, list_runs
from tests.support.small_trace import small_trace

def memory():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024

def refused(read):
    try:
        read()
    except ExplorerError:
        return
    raise SystemExit("not refused")

Trace.from_bytes(small_trace().to_bytes())
for line in sys.stdin:
    statement, name = json.loads(line)
    if not (child := os.fork()):
        path, before, start = Path(name), memory(), time.process_time()
        exec(statement)
        print(json.dumps([memory() - before, time.process_time() - start]), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("[]", flush=True)
os._exit(0)
"""

Measure = Callable[[str, Path], tuple[float, float]]


@pytest.fixture(scope="module")
def measured() -> Iterator[Measure]:
    """Megabytes and seconds that a statement takes on a file, in a process of its own: a copy of
    one that has imported everything."""
    root = Path(__file__).parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD], cwd=root, stdin=PIPE, stdout=PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        sent, answers = process.stdin, process.stdout

        def measure(read: str, path: Path) -> tuple[float, float]:
            print(json.dumps([read, str(path)]), file=sent, flush=True)
            memory, seconds = json.loads(answers.readline())
            return memory, seconds

        yield measure
        sent.close()


def safetensors(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


def described(**metadata: str) -> bytes:
    mark = {"format": "attention-explorer", "version": "1"}
    return safetensors(json.dumps({"__metadata__": mark | metadata}).encode())


def many_members(count: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.npy", b"")
    return file.getvalue()


def archived(header: bytes) -> bytes:
    """A trace with this header and no arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, header=np.frombuffer(header, np.uint8))
    return file.getvalue()


def listed(values: str, size: int) -> bytes:
    """A JSON list of about `size` bytes."""
    return f"[{values * (size // len(values))}1]".encode()


LOAD = "refused(lambda: load_checkpoint(path))"
UPLOAD = "refused(lambda: from_bytes(path.read_bytes(), 'x'))"
TRACE = "refused(lambda: Trace.load(path))"
PAIRS = "refused(lambda: read_pairs(path))"
REPORT = "refused(lambda: HeadReport.load(path))"
CONFIG = "refused(lambda: Run(path.parent).config)"
STATUS = "assert Run(path.parent).status().state == 'interrupted'"
METRICS = "assert Run(path.parent).moments() == []"
MB = 2**20


def header_of(size: int) -> bytes:
    return safetensors(b'{"a":' + listed("{},", size) + b"}")


_LISTS = b'{"a":[' + b"[]," * 30 + b'1],"step":'

FILES: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "header of 45 MB": (LOAD, "x", lambda: header_of(45 * MB)),
    "uploaded header": (UPLOAD, "x", lambda: header_of(45 * MB)),
    "header of 4 MB": (LOAD, "x", lambda: header_of(4 * MB - 99)),
    "header of most values": (LOAD, "x", lambda: header_of(590_000)),
    "facts of 3 MB": (LOAD, "x", lambda: described(facts=listed("[],", 3 * MB).decode())),
    "catalog": (
        "import os; os.environ['EXPLORER_CHECKPOINTS'] = str(path.parent)\n"
        "assert shipped_models() == {}",
        "x.safetensors",
        lambda: header_of(45 * MB),
    ),
    "trace of 70,000 members": (TRACE, "x", lambda: many_members(70_000)),
    "trace of 300 members": (TRACE, "x", lambda: many_members(300)),
    "trace header of 45 MB": (TRACE, "x", lambda: archived(listed("{},", 45 * MB))),
    "trace header of 4 MB": (TRACE, "x", lambda: archived(listed("{},", 4 * MB - 999))),
    "trace that unfolds to 300 MB": (
        TRACE, "x", lambda: archive_bomb(300),
    ),
    "rows": (PAIRS, "x", lambda: b"a\tb\n" * (63 * MB // 4)),
    "empty rows": (PAIRS, "x", lambda: b"\n" * (63 * MB)),
    "one source": (
        PAIRS, "x", lambda: b"".join(b"a\t%d\n" % number for number in range(990_000)),
    ),
    "wide row": (PAIRS, "x", lambda: b"," * (63 * MB)),
    "wide row of many lines": (PAIRS, "x", lambda: (b"," * 390_000 + b'"\n"') * 160),
    "last row": (
        PAIRS, "x",
        lambda: b"".join(b"a %d\t%d\n" % (number, number) for number in range(900_000)) + b"\xff",
    ),
    "report of 45 MB": (REPORT, "x", lambda: listed("{},", 45 * MB)),
    "report of 8 MB": (REPORT, "x", lambda: listed("{},", 8 * MB - 99)),
    "wide report": (REPORT, "x", lambda: listed('"\U0001f600",', 8 * MB - 99)),
    "config of 45 MB": (CONFIG, "config.json", lambda: listed("{},", 45 * MB)),
    "config of 4 MB": (CONFIG, "config.json", lambda: listed("{},", 4 * MB - 99)),
    "status of 45 MB": (STATUS, "status.json", lambda: listed("{},", 45 * MB)),
    "metrics of 100 MB": (METRICS, "metrics.jsonl", lambda: b"{}\n" * (100 * MB // 3)),
    "metrics of empty lines": (METRICS, "metrics.jsonl", lambda: b"\n" * (15 * MB)),
    "metrics of empty objects": (METRICS, "metrics.jsonl", lambda: b"{}\n" * (15 * MB // 3)),
    "metrics of 90,000 lines with lists": (
        METRICS, "metrics.jsonl",
        lambda: b"".join(b"%s%d}\n" % (_LISTS, number) for number in range(90_000)),
    ),
    "metrics line of 16 MB": (METRICS, "metrics.jsonl", lambda: listed("{},", 15 * MB)),
}  # fmt: skip


def archive_bomb(megabytes: int) -> bytes:
    """An archive that unfolds to so many megabytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("header.npy", "w") as member:
            member.write(b"{}")
        with archive.open("encoder.attention.npy", "w", force_zip64=True) as member:
            for _ in range(megabytes):
                member.write(bytes(MB))
    return file.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("case", sampled(FILES, 9))
def test_a_refused_file_takes_little_memory_and_time(case, measured, tmp_path):
    read, name, make = FILES[case]
    (tmp_path / name).write_bytes(make())
    memory, seconds = measured(read, tmp_path / name)
    print(f"{case}: {memory:.0f} MB, {seconds:.2f} s")
    assert memory <= MOST_MEMORY
    assert seconds <= MOST_SECONDS
