"""`runs`: list the recorded runs, or show one."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core import folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from explorer.training.run_directory import Run


def add_parser(commands: Any) -> None:
    command = commands.add_parser("runs", help="list the recorded runs, or show one")
    command.set_defaults(run_command=_runs)
    command.add_argument("show", nargs="?", choices=["show"], help="show one run")
    command.add_argument("name", nargs="?", help="its name")
    command.add_argument(
        "--root", type=Path, default=folders.runs(), help="the folder with the runs (default: runs)"
    )


def _runs(options: argparse.Namespace) -> int:
    from explorer.training.run_directory import find_run, list_runs

    if options.name is None:
        for run in list_runs(options.root):
            print(_line(run))
        return 0
    _show(find_run(options.root, options.name))
    return 0


def _show(run: "Run") -> None:
    """Print a run with its settings and moments."""
    print(_line(run))
    for name, value in asdict(run.config).items():
        print(f"  {name:16} {' '.join(value) if isinstance(value, tuple) else value}")
    for moment in run.moments():
        loss, seconds = _number(moment, "loss", ".4f"), _number(moment, "seconds", ".1f")
        print(f"  step {moment['step']:6}  loss {loss}  {_score(moment)}  {seconds} s")


def _number(moment: "Mapping[str, Any]", name: str, form: str) -> str:
    """A number of a moment; "?" where it is missing or damaged."""
    value = moment.get(name)
    return format(value, form) if isinstance(value, int | float) else "?"


def _score(moment: "Mapping[str, Any]") -> str:
    """The score of a moment: BLEU or exact match."""
    if "bleu" in moment:
        return f"BLEU {_number(moment, 'bleu', '.1f')}"
    return f"exact {_number(moment, 'exact_match', '.1%')}"


def _line(run: "Run") -> str:
    """A run as one line."""
    status, moments, config = run.status(), run.moments(), run.config
    score = _score(moments[-1]) if moments else "–"
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    steps = f"{status.step}/{config.steps}"
    return f"{run.name:24} {status.state:12} {config.task:9} step {steps:12} {score:12} {made}"
