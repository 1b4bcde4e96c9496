"""The files of the guests' site, compressed, made in a process of its own.

The models that it loads end with it, so the server keeps the files alone, and the host's pages do
not wait for its computations.
"""

import gzip
import html
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import PurePosixPath

from explorer.core import folders
from explorer.core.i18n import LANGUAGES, say

_OFFLINE = frozenset({"service-worker.js", "app.webmanifest", "not-visited.html"})
"""Files for offline use: a service worker would answer the host's browser in the app's place."""

_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".png": "image/png",
}

_BACK = b'<div class="back">'


@dataclass(frozen=True, slots=True)
class File:
    """A file of the site. data: compressed with gzip."""

    data: bytes
    etag: str
    media_type: str


def made(base: str) -> Iterator[tuple[str, File]]:
    """The files by their path in the site, as a process makes them; ends when that process ends.

    base: the URL path the app is served under, "" or "/…".
    """
    search = (str(folders.IMPORT_ROOT), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search))}
    command = [sys.executable, "-P", "-m", __name__, base]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout
        while True:
            try:
                name, *parts = pickle.load(process.stdout)
            except (EOFError, pickle.UnpicklingError):  # it has ended, perhaps within a file
                return
            yield name, File(*parts)


def compressed(files: Iterable[tuple[str, bytes]], base: str) -> Iterator[tuple[str, File]]:
    """Files of the static site as guests get them; one that has not changed since it came before is
    left out."""
    etags: dict[str, str] = {}
    for name, content in files:
        if name in _OFFLINE:
            continue
        kind = PurePosixPath(name).suffix
        if kind == ".html":
            content = _of_class(name, content, base)
        etag = f'"{sha256(content).hexdigest()[:16]}"'
        if etags.get(name) != etag:
            etags[name] = etag
            yield name, File(gzip.compress(content, 6, mtime=0), etag, _MEDIA_TYPES[kind])


def _of_class(name: str, page: bytes, base: str) -> bytes:
    """A page that says that it belongs to a class; a link to the class stands before its own link
    back to the first page."""
    page = page.replace(b"<html ", f'<html data-class="{base}" '.encode(), 1)
    language = name.split(".")[-2]
    if language not in LANGUAGES:
        return page
    text = html.escape(say("class_tools.back_to_host", language))
    link = f'<a href="{base}/#class=1&amp;lang={language}" data-testid="class-link">{text}</a>'
    return page.replace(_BACK, _BACK + f"{link} · ".encode(), 1)


def _make(base: str) -> None:
    """Write the files to standard output, for `made`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, and with it the pipe
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    static_site = import_module("explorer.app.static_site")  # in this process alone: with torch
    try:
        for name, file in compressed(static_site.files_for_class(), base):
            pickle.dump((name, *astuple(file)), out)
            out.flush()
    except BrokenPipeError:
        os._exit(1)  # no flush at the end, which would fail again


if __name__ == "__main__":
    _make(sys.argv[1])
