import os
import stat

import pytest

from explorer.core.errors import FileError
from explorer.core.files import reading, reason, refuse_unwritable, write_atomically, writing


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_can_be_read_by_others(tmp_path):
    write_atomically(tmp_path / "x", b"new")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


def test_a_path_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError) as caught:
        write_atomically(tmp_path / "file" / "x", b"new")
    assert caught.value.key == "unwritable_file"


def test_a_path_that_cannot_be_written_is_refused_beforehand(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path, tmp_path / "file" / "x"):
        with pytest.raises(FileError, match="cannot be written"):
            refuse_unwritable(path)
    refuse_unwritable(tmp_path / "new" / "x")
    assert not (tmp_path / "new" / "x").exists()


def test_the_reason_is_the_system_s_or_else_the_name_of_the_error():
    assert reason(OSError(28, "No space left on device")) == "No space left on device"
    assert reason(PermissionError()) == "PermissionError"


def test_errors_of_the_system_become_sentences_and_others_stay(tmp_path):
    with pytest.raises(FileError) as caught, reading(tmp_path / "x"):
        (tmp_path / "x").read_bytes()
    assert (caught.value.key, caught.value.facts) == ("unreadable_file", {"name": "x"})
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(FileError), reading(tmp_path / "x"):
        (tmp_path / "x").read_text("utf-8")
    with pytest.raises(KeyError), writing(tmp_path / "x"):
        {}["missing"]
