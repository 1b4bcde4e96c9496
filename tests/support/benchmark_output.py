"""Run one benchmark as a person does and read what it prints."""

import importlib
import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from unittest.mock import patch

import torch

from tests.support.app_server import ROOT


def lines_of(name: str, *options: str) -> list[str]:
    """The lines that `python -m benchmarks.NAME` prints; for one that opens a browser, of which a
    process has one at a time. Raises `CalledProcessError` when it fails."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def lines_here(name: str, *options: str) -> list[str]:
    """The lines that a benchmark prints in this process, which has imported torch already."""
    printed, threads = StringIO(), torch.get_num_threads()
    try:
        with patch.dict(os.environ), redirect_stdout(printed):
            importlib.import_module(f"benchmarks.{name}").main(options)
    finally:
        torch.set_num_threads(threads)
    return printed.getvalue().splitlines()
