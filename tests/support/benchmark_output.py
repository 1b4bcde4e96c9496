"""Run one benchmark as a person does, `python -m benchmarks.NAME`, and read what it prints."""

import subprocess
import sys

from tests.support.app_server import ROOT


def lines_of(name: str, *options: str) -> list[str]:
    """The lines it prints. Raises `CalledProcessError` when it fails."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()
