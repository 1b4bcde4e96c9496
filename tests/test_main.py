"""`python -m explorer`: its commands, and what it says of a wrong one."""

import os
import re
import subprocess
import sys

import pytest

from explorer.__main__ import _REMOVED, main
from explorer.core import folders
from explorer.core.errors import RemovedError
from explorer.jobs.training_run import create_run
from tests.support.tiny_configs import TINY


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train --heads 3", "cannot be shared by 3 heads"),
        ("train --task invert", "copy, induction, reverse, sort"),
        ("trace nowhere.safetensors 1", "cannot be read"),
        ("trace nowhere.safetensors 1 --out x.docx", ".html"),
    ],
)
def test_errors_are_one_sentence(arguments, message, capsys):
    assert main(arguments.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("script", "prog"),
    [
        ("/usr/local/bin/attention-explorer", "attention-explorer"),
        ("C:/Scripts/attention-explorer.exe", "attention-explorer"),
        ("explorer/__main__.py", "python -m explorer"),
    ],
)
@pytest.mark.parametrize("command", [[], ["train"]])
def test_help_names_the_command_as_it_was_called(script, prog, command, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [script])
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {' '.join([prog, *command])} ")


def test_every_command_is_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    for command in ("start", "class", "train", "trace", "measure", "align", "translate", "runs"):
        assert re.search(rf"\n    {command}\s", printed)


@pytest.mark.parametrize("command", _REMOVED)
def test_a_command_that_is_gone_names_what_remains(command, capsys):
    assert main([command, "reverse", "--width", "4"]) == 2
    assert capsys.readouterr().err == f"error: {RemovedError(command)}\n"


def test_an_interrupted_command_exits_with_130(monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("explorer.cli.runs._runs", interrupted)
    assert main(["runs"]) == 130


def test_an_output_that_nobody_reads_ends_the_command_without_a_traceback(tmp_path):
    create_run(tmp_path / "one", TINY)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "runs", "--root", str(tmp_path)],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("command", [["trace", "7 3 甲"], ["runs"], ["--help"]])
def test_a_console_without_unicode_gets_escapes(command, encoding, tmp_path):
    if command[0] == "trace":
        command = ["trace", str(folders.shipped_checkpoints() / "copy.safetensors"), command[1]]
        command += ["--out", str(tmp_path / "x.trace")]
    if command[0] == "runs":
        create_run(tmp_path / "甲", TINY)
        command = ["runs", "--root", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "explorer", *command],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    if command[0] == "trace":
        assert b"7 3 \\u7532" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["train", "--bad"], "explorer train [--task"),
        (["runs", "--bad"], "explorer runs "),
        (["--bad"], "explorer [-h]"),
    ],
)
def test_an_unknown_option_prints_the_usage_of_its_own_command(arguments, usage, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("usage: ")
    assert usage in printed.splitlines()[0]
    assert "unrecognized arguments: --bad" in printed
