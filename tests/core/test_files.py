import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.files import (
    byte_count,
    check_output,
    log_skipped,
    read_bytes,
    read_text,
    reading,
    reason,
    replace_atomically,
    replacement,
    write_atomically,
    writing,
)

ROOT = Path(__file__).parents[2]


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


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path):
    path, beside = tmp_path / "[x].safetensors", tmp_path / "[x].safetensors_backup_1"
    path.write_bytes(b"old")
    beside.write_bytes(b"a person's")
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from explorer.core.files import replacement\n"
        "with replacement(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    left = set(tmp_path.iterdir()) - {path, beside}
    assert [file.read_bytes() for file in left] == [b"half"]  # the second removed the first's
    assert path.read_bytes() == b"old"
    check_output(path)
    assert set(tmp_path.iterdir()) == {path, beside}
    write_atomically(path, b"new")
    assert set(tmp_path.iterdir()) == {path, beside}
    assert (path.read_bytes(), beside.read_bytes()) == (b"new", b"a person's")


def test_what_another_process_still_writes_is_not_removed(tmp_path):
    path = tmp_path / "x"
    with replacement(path) as slow:  # a file that is opened twice is locked as by two processes
        slow.write(b"slow")
        write_atomically(path, b"fast")
        assert path.read_bytes() == b"fast"
    assert path.read_bytes() == b"slow"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_can_be_read_by_others(tmp_path):
    write_atomically(tmp_path / "x", b"new")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


def test_a_path_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError) as caught:
        write_atomically(tmp_path / "file" / "x", b"new")
    assert caught.value.key == "unwritable_file"


@pytest.mark.parametrize("name", ["a\0b.html", "\ud800.html"])
def test_what_cannot_be_a_file_name_is_said(name, tmp_path):
    for write in (write_atomically, replace_atomically):
        with pytest.raises(FileError, match=r"“.*\\u.*” cannot be the name of a file"):
            write(tmp_path / name, b"")
    with pytest.raises(FileError, match="cannot be the name"):
        check_output(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_is_refused_beforehand(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path, tmp_path / "file" / "x"):
        with pytest.raises(FileError, match="cannot be written"):
            check_output(path)
    check_output(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(FileError, match=r"there is no folder “.*none”"):
        check_output(tmp_path / "none" / "x")
    assert not (tmp_path / "none").exists()


def test_a_file_that_is_read_is_not_overwritten_under_any_of_its_names(tmp_path, monkeypatch):
    given = tmp_path / "x"
    given.write_bytes(b"")
    (tmp_path / "link").symlink_to(given)
    monkeypatch.chdir(tmp_path)
    for path in (given, Path("x"), tmp_path / "link", tmp_path / ".." / tmp_path.name / "x"):
        with pytest.raises(FileError, match="would be overwritten"):
            check_output(path, (None, "", "none", given))
    check_output(tmp_path / "other", (given,))


def test_the_reason_is_the_system_s_or_else_the_name_of_the_error():
    assert reason(OSError(28, "No space left on device")) == "No space left on device"
    assert reason(PermissionError()) == "PermissionError"


def test_errors_of_the_system_become_sentences_and_others_stay(tmp_path):
    with pytest.raises(FileError) as caught, reading(tmp_path / "x"):
        (tmp_path / "x").read_bytes()
    told = {"name": "x", "reason": "No such file or directory"}
    assert (caught.value.key, caught.value.facts) == ("unreadable_file", told)
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(FileError), reading(tmp_path / "x"):
        (tmp_path / "x").read_text("utf-8")
    with pytest.raises(KeyError), writing(tmp_path / "x"):
        {}["missing"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
@pytest.mark.parametrize("export", ["trace", "html", "json", "csv"])
def test_a_full_disk_leaves_the_old_export(export, tmp_path):
    path = tmp_path / f"x.{export}"
    path.write_bytes(b"old")
    code = (
        "import resource, sys\n"
        "from explorer.core.errors import FileError\n"
        "from explorer.heads.reports.head_report import HeadReport\n"
        "from tests.support.small_trace import small_trace\n"
        "kind, path, report = sys.argv[1:]\n"
        "report = HeadReport.load(report)\n"
        "trace = small_trace()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "exports = {'trace': trace.save, 'html': trace.to_html,\n"
        "           'json': report.save, 'csv': report.to_csv}\n"
        "try:\n"
        "    exports[kind](path)\n"
        "except FileError as error:\n"
        "    sys.exit(error.key != 'unwritable_file')\n"
        "sys.exit(2)\n"
    )
    report = folders.shipped_reports() / "reverse.json"
    call = [sys.executable, "-c", code, export, str(path), str(report)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs")
def test_only_regular_files_are_read_and_a_fifo_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("nowhere")
    odd = [tmp_path / "fifo", Path("/dev/zero")]
    for path in (*odd, tmp_path / "link", tmp_path / "x\0"):
        with pytest.raises(FileError) as caught:
            read_bytes(path)
        assert (caught.value.key == "no_regular_file") == (path in odd)


def test_a_folder_in_place_of_a_file_is_called_one(tmp_path):
    with pytest.raises(FileError) as opening:
        read_bytes(tmp_path)
    with pytest.raises(FileError) as caught, reading(tmp_path):
        tmp_path.read_text()
    for error in (opening.value, caught.value):
        assert (error.key, error.facts) == ("is_folder", {"name": tmp_path.name})


def test_a_text_in_another_encoding_is_told_from_a_file_that_cannot_be_opened(tmp_path):
    (tmp_path / "x").write_text("café", "latin-1")
    with pytest.raises(FileError) as caught:
        read_text(tmp_path / "x")
    assert caught.value.key == "not_in_utf8"


def test_a_file_over_the_limit_is_not_read(tmp_path):
    (tmp_path / "x").write_bytes(b"1234")
    assert read_bytes(tmp_path / "x", 4) == b"1234"
    with pytest.raises(FileError) as caught:
        read_bytes(tmp_path / "x", 3)
    assert caught.value.key == "file_too_large"
    assert "“x” has 0.1 KB; at most 0.1 KB are read." in str(caught.value)


@pytest.mark.parametrize(
    ("count", "written"),
    [(2**18, "256 KB"), (2**18 + 1, "256.1 KB"), (2**20, "1 MB"), (3 * 2**19, "1.5 MB")],
)
def test_a_number_of_bytes_never_reads_as_none(count, written):
    assert byte_count(count) == written


def test_text_is_read_with_or_without_its_mark_and_only_in_utf_8(tmp_path):
    (tmp_path / "x").write_bytes("甲".encode("utf-8-sig"))
    assert read_text(tmp_path / "x") == "甲"
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(FileError):
        read_text(tmp_path / "x")


def test_one_file_and_reason_are_logged_once(tmp_path, caplog):
    for why in ("one", "one", "other\ud800"):
        log_skipped(tmp_path / "x\udcff", why)
    reasons = [record.getMessage().rsplit(": ")[1] for record in caplog.records]
    assert reasons == ["one", r"other\ud800"]


def test_a_file_name_neither_ends_the_line_of_the_log_nor_steers_the_terminal(tmp_path, caplog):
    log_skipped(tmp_path / "a\n\x1b[31m甲", "b\rc")
    assert caplog.records[0].getMessage().endswith(r"a\u000a\u001b[31m甲: b\u000dc")
