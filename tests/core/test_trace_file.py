import io
import json
import zipfile

import numpy as np
import pytest

from explorer.core import trace_file, trace_size
from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.core.trace_file import LARGEST_FILE
from tests.support.small_trace import small_trace


@pytest.mark.parametrize(
    ("version", "key", "word"),
    [
        (99, "trace_version", "newer"),
        (-1, "no_trace_version", "-1"),
        (0, "no_trace_version", "0"),
        (True, "no_trace_version", "true"),
        (1.5, "no_trace_version", "1.5"),
        ("3", "no_trace_version", '"3"'),
        (None, "no_trace_version", "null"),
    ],
)
def test_a_format_that_is_not_read_is_refused(version, key, word):
    file = io.BytesIO()
    header = json.dumps({"version": version}).encode()
    np.savez(file, header=np.frombuffer(header, np.uint8))
    with pytest.raises(TraceError) as caught:
        Trace.from_bytes(file.getvalue())
    assert caught.value.key == key
    assert f" {word} " in str(caught.value)
    assert caught.value.in_language("zh") != str(caught.value)


def test_pickled_arrays_are_refused():
    file = io.BytesIO()
    np.savez(file, header=np.array([{"version": 1}], dtype=object))
    with pytest.raises(TraceError):
        Trace.from_bytes(file.getvalue())


def test_a_file_that_unfolds_to_too_much_is_refused_before():
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("cross.attention.npy", "w") as member,
    ):
        for _ in range(LARGEST_FILE // 2**20 + 1):
            member.write(bytes(2**20))
    assert len(file.getvalue()) < 2**20
    with pytest.raises(TraceError) as caught:
        Trace.from_bytes(file.getvalue())
    assert caught.value.key == "trace_too_large"


def test_what_this_machine_captures_is_read_back_and_uploads_stay_small(tmp_path, monkeypatch):
    trace, most = small_trace(), trace_size.SHARED_TRACE
    monkeypatch.setattr(trace_file, "largest_trace", lambda: 4 * most)
    assert trace_file.largest_saved() > 4 * most > LARGEST_FILE > most
    trace.save(tmp_path / "own.trace")
    limits = []
    monkeypatch.setattr(Trace, "from_bytes", lambda *_, name, limit: limits.append(limit))
    Trace.load(tmp_path / "own.trace")
    assert limits == [trace_file.largest_saved()]


def test_a_file_of_over_two_gigabytes_is_read(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    data = small_trace().to_bytes()
    with pytest.raises(TraceError):  # a small one of that kind has too many members
        Trace.from_bytes(data)
    monkeypatch.setattr(trace_file, "_NEEDS_ZIP64", len(data))
    assert Trace.from_bytes(data).text == "b a"


def test_a_limit_of_bytes_is_checked_before_a_file_unfolds():
    data = small_trace().to_bytes()
    assert Trace.from_bytes(data, limit=10**6).text == "b a"
    with pytest.raises(TraceError) as caught:
        Trace.from_bytes(data, limit=1000)
    assert caught.value.key == "trace_too_large"


def test_two_hundred_mutations_of_a_file_give_a_trace_or_a_trace_error():
    data = small_trace().to_bytes()
    random = np.random.default_rng(7)
    refused = 0
    for _ in range(200):
        mutated = bytearray(data)
        for position in random.integers(0, len(data), random.integers(1, 8)):
            mutated[position] = random.integers(0, 256)
        cut = random.integers(0, len(data)) if random.random() < 0.3 else len(data)
        try:
            Trace.from_bytes(bytes(mutated[:cut])).integrity()
        except TraceError:
            refused += 1
    assert refused > 100


def test_floats_are_copied_the_rest_is_deflated_and_numpy_reads_all_to_the_bit(tmp_path):
    trace = small_trace()
    trace.save(tmp_path / "x.trace")
    data = (tmp_path / "x.trace").read_bytes()
    assert data == trace.to_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        ways = {member.filename: member.compress_type for member in archive.infolist()}
    assert ways.pop("header.npy") == zipfile.ZIP_DEFLATED
    with np.load(io.BytesIO(data)) as found:
        for name, array in trace.arrays.items():
            assert (found[name].dtype, found[name].tobytes()) == (array.dtype, array.tobytes())
            floats = np.issubdtype(array.dtype, np.floating)
            expected = zipfile.ZIP_STORED if floats else zipfile.ZIP_DEFLATED
            assert ways.pop(f"{name}.npy") == expected
    assert not ways


def test_a_file_of_the_first_version_is_read(monkeypatch):
    trace = small_trace()
    monkeypatch.setattr("explorer.core.trace_file.FORMAT_VERSION", 1)
    old = trace.to_bytes()
    monkeypatch.undo()
    assert trace.to_bytes() != old
    assert Trace.from_bytes(old).integrity().ok.all()
