"""Random damage to every kind of file: it opens or is refused with an `ExplorerError`, soon."""

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from explorer.core import folders
from explorer.data.column_guess import first_rows
from explorer.data.parallel_corpus import parse_pairs
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_store import stored_reports
from explorer.model.catalog import UploadedModel
from explorer.model.checkpoint import to_bytes
from explorer.model.opening import read_upload
from tests.support.file_uses import (
    answers,
    two_runs,
    use_report,
    use_runs,
    use_trace,
    whole_catalog,
)
from tests.support.odd_files import MUTATIONS, ODD_VALUES
from tests.support.small_trace import small_trace
from tests.support.toy_sentences import as_table

REPORT = (folders.shipped_checkpoints() / "heads" / "reverse.json").read_bytes()
SLOWEST = 5.0
"""Seconds of processor time for one file."""

_PIECES = [*(value.encode() for value in ODD_VALUES), b"[", b"{", b"}", b'"', b"\\", b"\0", b"\xff"]


def mutated(data: bytes, random: np.random.Generator) -> bytes:
    """`data` with one to four changes of random bytes, lengths and JSON values."""
    changed = bytearray(data)
    for _ in range(random.integers(1, 5)):
        size = len(changed)
        at = (
            int(random.integers(0, size + 1))
            if random.random() < 0.5
            else int(min(size, random.exponential(200)))
        )  # half of the changes are near the start, where headers are
        length = int(random.exponential(20))
        match random.integers(0, 7):
            case 0:
                changed[at : at + 1] = bytes([random.integers(0, 256)])
            case 1:
                changed[at : at + length] = random.bytes(length)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length]
            case 4:
                changed[at:at] = _PIECES[random.integers(0, len(_PIECES))]
            case 5:
                replace_number(changed, at, random)
            case _ if random.random() < 0.3:
                del changed[at:]
    return bytes(changed)


def replace_number(data: bytearray, at: int, random: np.random.Generator) -> None:
    """Put an odd value in the place of the next JSON value after `at`."""
    start = next((i for i in range(at, len(data)) if data[i : i + 1] in b":[,"), len(data)) + 1
    end = next((i for i in range(start, len(data)) if data[i : i + 1] in b",]}"), len(data))
    data[start:end] = _PIECES[random.integers(0, len(ODD_VALUES))]


def header_mutated(data: bytes, random: np.random.Generator) -> bytes:
    """A checkpoint or trace whose header is damaged, and whose parts fit together again."""
    if data[:2] != b"PK":
        length = int.from_bytes(data[:8], "little")
        text = mutated(data[8 : 8 + length], random)
        return len(text).to_bytes(8, "little") + text + data[8 + length :]
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        chosen = random.choice(old.namelist()) if random.random() < 0.5 else "header.npy"
        for name in old.namelist():
            contents = old.read(name)
            if name == chosen == "header.npy":
                text = mutated(np.lib.format.read_array(io.BytesIO(contents)).tobytes(), random)
                array = io.BytesIO()
                np.lib.format.write_array(array, np.frombuffer(text, np.uint8))
                contents = array.getvalue()
            elif name == chosen:
                contents = mutated(contents, random)
            new.writestr(name, contents)
    return file.getvalue()


def mutations(data: bytes, seed: int, *, header: bool = False) -> Iterator[bytes]:
    """`MUTATIONS` damaged copies; `header`: every second one by `header_mutated`."""
    random = np.random.default_rng(seed)
    for number in range(MUTATIONS):
        change = header_mutated if header and number % 2 else mutated
        yield change(data, random)


def soon(use: Callable[[], None]) -> None:
    """Run `use`, which must not take longer than `SLOWEST`."""
    start = time.process_time()
    use()
    assert time.process_time() - start < SLOWEST


def test_mutated_checkpoints_open_or_are_refused(explorable, tmp_path, monkeypatch):
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    path = tmp_path / "odd.safetensors"

    def use() -> None:
        whole_catalog()
        upload = answers(lambda: read_upload("x.safetensors", path.read_bytes()))
        if isinstance(upload, UploadedModel):
            for text in upload.examples[:2]:
                if (trace := answers(lambda text=text: upload.model.trace(text))) is not None:
                    use_trace(trace)
            to_bytes(upload.model.checkpoint)

    for data in mutations(to_bytes(explorable.checkpoint), 1, header=True):
        path.write_bytes(data)
        soon(use)


def test_mutated_traces_open_or_are_refused():
    def use(data: bytes) -> None:
        upload = answers(lambda: read_upload("x.trace", data))
        if upload is not None:
            use_trace(upload.trace)

    for data in mutations(small_trace().to_bytes(), 2, header=True):
        soon(lambda data=data: use(data))


def test_mutated_pairs_are_read_or_refused():
    def use(data: bytes, columns: tuple[str, str]) -> None:
        first_rows(data, "x.tsv")
        corpus = answers(lambda: parse_pairs(data, "x.tsv", columns))
        if corpus is not None:
            assert corpus.counts.kept == len(corpus.pairs)
            "".join(pair.source + pair.target for pair in corpus.pairs).encode()

    table = as_table()
    for number, data in enumerate(mutations(table.encode(), 3)):
        data = data.replace(b"\t", b"\t" if number % 3 else (b"," if number % 2 else b";"))
        soon(lambda data=data: use(data, ("1", "2")))
        soon(lambda data=data: use(data, ("source", "2")))


@pytest.mark.parametrize("file", ["config.json", "status.json", "metrics.jsonl", "lesson.json"])
def test_mutated_runs_are_listed_or_skipped(file, tmp_path):
    root = two_runs(tmp_path / "runs")
    path: Path = root / "odd" / file

    def use() -> None:
        assert "good" in use_runs(root)

    for data in mutations(path.read_bytes(), 4):
        path.write_bytes(data)
        soon(use)


def test_mutated_head_reports_are_shown_or_skipped(tmp_path, monkeypatch):
    content = json.loads(REPORT)
    for name, rows in (("heads", 3), ("roles", 24)):
        content[name] = {column: values[:rows] for column, values in content[name].items()}
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path / "own"))
    (tmp_path / "heads").mkdir()
    path = tmp_path / "heads" / "odd.json"

    def use() -> None:
        stored_reports(content["facts"]["digest"])
        report = answers(lambda: HeadReport.load(path))
        if report is not None:
            use_report(report)

    for data in mutations(json.dumps(content).encode(), 5):
        path.write_bytes(data)
        soon(use)
