"""The file in which the host's key is kept: for how long, for whom, and what is not believed."""

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from explorer.app.server import host_key
from explorer.app.server.host_key import LIFETIME, SHORTEST, kept
from explorer.core import folders

PORT = 8600
posix = pytest.mark.skipif(sys.platform == "win32", reason="has no modes of files")


@pytest.fixture
def file(monkeypatch, tmp_path) -> Path:
    """The file of the key of `PORT`."""
    monkeypatch.setenv(folders.STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state" / f"class-{PORT}.key"


def test_the_next_start_on_a_port_has_its_key(file):
    key = kept(PORT)
    assert kept(PORT) == key
    assert file.read_text() == key
    assert re.fullmatch(r"[\w-]{12}", key)
    assert len(key) == SHORTEST
    assert kept(PORT + 1) != key


def test_a_new_key_is_the_one_that_is_kept(file):
    key = kept(PORT)
    new = kept(PORT, new=True)
    assert new != key
    assert kept(PORT) == new


@posix
def test_only_its_owner_may_open_the_file(file):
    before = os.umask(0)
    try:
        kept(PORT)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("seconds", "same"), [(60 - LIFETIME, True), (-LIFETIME, False), (60, False)]
)
def test_a_key_is_kept_for_a_school_day_and_not_from_the_future(seconds, same, file):
    key = kept(PORT)
    made = file.stat().st_mtime + seconds
    os.utime(file, (made, made))
    assert (kept(PORT) == key) == same


def test_a_start_does_not_make_a_key_live_longer(file):
    kept(PORT)
    os.utime(file, (file.stat().st_mtime - 60,) * 2)
    made = file.stat().st_mtime
    kept(PORT)
    assert file.stat().st_mtime == made


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_file_that_others_may_open_is_not_believed(mode, file):
    key = kept(PORT)
    file.chmod(mode)
    assert kept(PORT) != key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@posix
def test_a_file_of_another_account_is_not_believed(file, monkeypatch):
    key = kept(PORT)
    owner = file.stat().st_uid
    monkeypatch.setattr(host_key.os, "geteuid", lambda: owner + 1)
    assert kept(PORT) != key


@pytest.mark.parametrize("content", [b"", b"short", b"a" * 13, b"a" * 11 + b"\n", b"\xff" * 12])
def test_a_damaged_file_is_replaced(content, file):
    kept(PORT)
    file.write_bytes(content)
    key = kept(PORT)
    assert key.encode() != content
    assert kept(PORT) == key


def test_a_key_that_cannot_be_kept_is_said_and_good(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv(folders.STATE_VARIABLE, str(tmp_path / "file" / "state"))
    key = kept(PORT)
    assert len(key) == SHORTEST
    told = capsys.readouterr().err
    assert "the key cannot be kept" in told
    assert len(told.splitlines()) == 1
    assert key not in told


def test_an_account_without_a_home_folder_has_a_key(monkeypatch, capsys):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(folders.STATE_VARIABLE, raising=False)
    monkeypatch.setattr(folders.Path, "home", homeless)
    assert len(kept(PORT)) == SHORTEST
    assert "the key cannot be kept" in capsys.readouterr().err
