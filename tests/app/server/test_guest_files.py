"""The files of the guests' site: what is sent of each, and the process that makes them."""

import gzip
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from explorer.app import static_site
from explorer.app.server import guest_files
from explorer.core import folders

PAGE = b'<!doctype html>\n<html lang="en">\nfirst'


@pytest.fixture
def one_model(tmp_path: Path, monkeypatch) -> None:
    """A small site: one model, and a lesson in a folder named relative to the current one."""
    shutil.copy(folders.checkpoints() / "copy.safetensors", tmp_path)
    (tmp_path / "more").mkdir()
    text = (folders.SHIPPED_LESSONS / "the-mask.en.md").read_text("utf-8")
    (tmp_path / "more" / "own.en.md").write_text(text.replace("model=reverse", "model=copy"))
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    monkeypatch.setenv(folders.LESSONS_VARIABLE, "more")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("base", ["", "/class"])
def test_pages_say_to_which_class_they_belong_and_all_is_compressed(base):
    files = dict(guest_files.compressed([("index.html", PAGE), ("live.js", b"live")], base))
    page, script = gzip.decompress(files["index.html"].data), files["live.js"]
    assert page == PAGE.replace(b"<html ", f'<html data-class="{base}" '.encode())
    assert (gzip.decompress(script.data), script.media_type) == (b"live", "text/javascript")


@pytest.mark.parametrize("base", ["", "/class"])
def test_the_other_pages_lead_back_to_the_class(base):
    page = b'<html lang="en">\n<div class="back"><a href="./index.html">back</a></div>'
    names = ("index.html", "training.en.html", "lessons/the-mask.zh.html")
    files = dict(guest_files.compressed(((name, page) for name in names), base))
    first, english, chinese = (gzip.decompress(files[name].data).decode() for name in names)
    assert "class-link" not in first
    assert f'<div class="back"><a href="{base}/#class=1&amp;lang=en"' in english
    assert f'href="{base}/#class=1&amp;lang=zh"' in chinese
    assert "跟随主持人</a> · <a href" in chinese


def test_nothing_is_sent_for_offline_use_and_nothing_unchanged_twice():
    files = [("a.js", b"1"), ("service-worker.js", b"2"), ("a.js", b"1"), ("a.js", b"3")]
    sent = list(guest_files.compressed(files, ""))
    assert [(name, gzip.decompress(file.data)) for name, file in sent] == [
        ("a.js", b"1"),
        ("a.js", b"3"),
    ]
    assert sent[0][1].etag != sent[1][1].etag


def test_a_process_makes_what_this_one_would(one_model):
    files = list(guest_files.made("/base"))
    assert files == list(guest_files.compressed(static_site.files_for_class(), "/base"))
    assert {"models/copy.js", "lessons/own.en.html"} <= dict(files).keys()


def test_the_process_ends_when_nobody_reads_what_it_makes(one_model, started):
    files = guest_files.made("")
    next(files)
    files.close()
    assert started[0].returncode is not None


def test_a_process_that_is_killed_ends_the_files(one_model, started):
    files = guest_files.made("")
    next(files)
    started[0].kill()
    assert "training.zh.html" not in dict(files)


@pytest.fixture
def started(monkeypatch) -> list[subprocess.Popen[bytes]]:
    """The processes that have been started."""
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def note(*arguments: Any, **options: Any) -> "subprocess.Popen[bytes]":
        processes.append(start(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(guest_files.subprocess, "Popen", note)
    return processes
