"""What the Makefile runs, with a stand-in for Python that prints its arguments."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip") shift 2 && echo "pip $*" && case "$*" in *{broken}*) exit 1 ;; esac ;;
"-c "*urlopen*) exit {probe} ;;
esac
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def install(
    folder: Path,
    *,
    system: str = "Linux",
    nvidia: str = "",
    probe: int = 0,
    broken: str = "no such option",
) -> tuple[list[str], list[str]]:
    """The sentences on what is downloaded, and pip's arguments."""
    python = folder / "python3"
    python.write_text(FAKE_PYTHON.format(probe=probe, broken=f"'{broken}'"))
    python.chmod(0o755)
    venv = folder / "venv"
    variables = {"PYTHON": python, "VENV": venv, "SYSTEM": system, "NVIDIA": nvidia}
    lines = make(*(f"{name}={value}" for name, value in variables.items()), f"{venv}/run")
    assert (venv / "run").exists()
    told = [line for line in lines if "ownload" in line or "answer" in line]
    return told, [line for line in lines if line.startswith("pip ")]


def test_run_and_class_take_a_port():
    for command in ("start", "class"):
        target = "run" if command == "start" else command
        assert make("-n", target, "PORT=8600")[-1].endswith(f"explorer {command} --port 8600")
        assert make("-n", target)[-1].rstrip().endswith(f"explorer {command}")


def test_class_takes_an_address_and_a_name():
    command = make("-n", "class", "ADDRESS=127.0.0.1", "NAME=x.org")[-1]
    assert command.endswith("explorer class --address 127.0.0.1 --name x.org")


def test_mutants_are_a_sample_with_a_seed():
    command = make("-n", "mutants", "SAMPLE=5", "SEED=7")[-1]
    assert command.endswith(".ci/mutants --sample 5 --seed 7")


def test_the_package_is_importable_before_anything_starts_and_nothing_more_is_fetched(tmp_path):
    for target in ("run", "class"):
        lines = make("-n", target, f"VENV={tmp_path}")
        importable = [line for line in lines if line.endswith(f'"{ROOT}"')]
        assert len(importable) == 1
        assert lines.index(importable[0]) < len(lines) - 1
        pip = [line for line in lines if " -m pip " in line]
        assert not [line for line in pip if not re.search("torch|--require-hashes", line)]


def test_without_an_nvidia_driver_the_cpu_build_of_torch_is_taken(tmp_path):
    told, pip = install(tmp_path)
    assert "375 MB" in told[0]
    assert "--index-url https://download.pytorch.org/whl/cpu torch==" in pip[0]
    assert pip[1].endswith("--no-deps --require-hashes -r requirements.lock")
    assert pip[2].endswith("-c torch.lock torch")


@pytest.mark.parametrize("failure", [{"probe": 1}, {"broken": "--index-url"}])
def test_the_usual_index_serves_when_the_cpu_index_does_not(tmp_path, failure):
    told, pip = install(tmp_path, **failure)
    assert "does not answer" in told[-1]
    assert pip[-1] == "pip install --disable-pip-version-check -c torch.lock torch"


@pytest.mark.parametrize(
    ("machine", "size"), [({"nvidia": "/usr/bin/nvidia-smi"}, "GB"), ({"system": "Darwin"}, "MB")]
)
def test_other_machines_take_torch_from_the_usual_index(tmp_path, machine, size):
    told, pip = install(tmp_path, probe=1, **machine)
    assert (len(told), len(pip)) == (1, 2)
    assert size in told[0]
