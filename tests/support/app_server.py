"""The app as a person starts it, on a free port, for tests that need a real browser."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from explorer.app.server import access
from explorer.core import folders

ROOT = Path(__file__).parent.parent.parent
BASE_PATH = "STREAMLIT_SERVER_BASE_URL_PATH"
"""Of the environment: the path that the app is served under, such as "class/"."""

PATIENCE = 60
"""Seconds a start may take on a busy machine."""


@contextmanager
def running_app(script: Path = ROOT / "app.py", **environment: str) -> Iterator[str]:
    """Start `streamlit run` with the app, or another script; its address, until the block ends."""
    with running_process(script, **environment) as (address, _):
        yield address


@contextmanager
def running_process(
    script: Path = ROOT / "app.py", **environment: str
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """As `running_app`; the address and the server's process."""
    port = free_port()
    options = [f"--server.port={port}", "--server.headless=true"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *options],
        cwd=ROOT,
        env={
            **os.environ,
            **{"PYTHONPATH": str(ROOT), "HF_HUB_CACHE": str(ROOT / "no cache")},
            **environment,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/{environment.get(BASE_PATH, '')}"
    try:
        wait_for(f"{address}_stcore/health", server)
        yield address, server
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


@contextmanager
def hosted_app(runs: Path) -> Iterator[str]:
    """The running app in class mode, with its runs in a folder of their own; its address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(access.KEY_VARIABLE, "swordfish")
        environment = {folders.RUNS_VARIABLE: str(runs)}
        with running_app(ROOT / "app.py", **environment) as address:
            yield address


@contextmanager
def running_class(port: int, folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Start `explorer class` as a host does; the link that it prints, and its process.

    folder: of what it keeps until the next start.
    """
    where = ["--port", str(port), "--address", "127.0.0.1"]
    printed = folder / "printed.txt"
    with printed.open("wb") as terminal:
        server = subprocess.Popen(
            [sys.executable, "-u", "-m", "explorer", "class", *where],
            cwd=ROOT,
            env={**os.environ, folders.STATE_VARIABLE: str(folder), access.KEY_VARIABLE: ""},
            stdout=terminal,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
        link = re.search(r"http\S+/host#\w+", printed.read_text("utf-8"))
        assert link
        yield link[0], server
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


def free_port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Return when `address` answers. Raises `RuntimeError` when the server does not come up."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"The app did not start ({server.poll()}).")
