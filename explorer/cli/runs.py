"""`runs`: list the recorded runs, or show one."""

import argparse
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core import folders
from explorer.core.errors import RunError
from explorer.core.files import printable
from explorer.core.i18n import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from explorer.jobs.training_run import Run


def add_parser(commands: Any) -> None:
    command = commands.add_parser("runs", help="list the recorded runs, or show one")
    command.set_defaults(run_command=_runs)
    command.add_argument("show", nargs="?", choices=["show"], help="show one run")
    command.add_argument("name", nargs="?", help="its name, or the path of its folder")
    command.add_argument("--root", type=Path, help="the folder with the runs (default: runs)")


def _runs(options: argparse.Namespace) -> int:
    from explorer.jobs.training_run import find_run

    if options.name is not None:
        path = Path(options.name)
        named = path.name != options.name or (path / "config.json").is_file()
        folder = path.resolve() if named else _root(options) / options.name
        _show(find_run(folder.parent, folder.name))
        return 0
    if options.show:
        raise RunError("which_run")
    _list(_root(options))
    return 0


def _root(options: argparse.Namespace) -> Path:
    """Folder in which runs are looked for. Raises `RunError` if the named one is not a folder."""
    root: Path = options.root or folders.runs()
    if options.root and not root.is_dir():
        raise RunError("no_runs_folder", folder=printable(str(root)))
    return root


def _list(root: Path) -> None:
    """Print the runs in a folder, one a line, or as a note that there are none."""
    from explorer.jobs.training_run import list_runs

    runs = list_runs(root)
    for run in runs:
        print(_line(run))
    if not runs:
        print(say("errors.no_runs", folder=printable(str(root))), file=sys.stderr)


def _show(run: "Run") -> None:
    """Print a run: its state, the settings that differ from the preset, its best moment and a
    table of all evaluations."""
    from explorer.training.run_metrics import best_moment

    print(_line(run))
    if (failure := run.status().failure) is not None:
        print(f"  {failure}")
    print("settings that differ from the app's:")
    for text in _changed_settings(run) or ["none"]:
        print(f"  {text}")
    moments = run.moments()
    best = best_moment(moments)
    if best is not None:
        loss = _number(best, "held_out_loss", ".4f")
        print(f"best moment: step {best['step']}, held-out loss {loss}, {_score(best)}")
    print(f"{'step':>8} {'seconds':>9} {'loss':>8} {'training':>9} {'held-out':>9}  score")
    for moment in moments:
        print(_table_row(moment) + ("  best" if moment is best else ""))


def _changed_settings(run: "Run") -> list[str]:
    """ "steps 60 (900)": a setting, and in brackets the app's suggestion for such a run."""
    from explorer.training.config import preset

    config, suggested = run.config, preset(run.config)
    named = {field.name: getattr(config, field.name) for field in fields(config)}
    texts = []
    for name, value in named.items():
        usual = getattr(suggested, name)
        if value != usual:
            shown, other = (" ".join(v) if isinstance(v, tuple) else v for v in (value, usual))
            texts.append(f"{name} {shown} ({other})")
    return texts


def _table_row(moment: "Mapping[str, Any]") -> str:
    """Step, seconds, the three losses in nats a token (see `run_metrics`), and the score."""
    return (
        f"{moment['step']:8} {_number(moment, 'seconds', '.1f'):>9} "
        f"{_number(moment, 'loss', '.4f'):>8} {_number(moment, 'training_loss', '.4f'):>9} "
        f"{_number(moment, 'held_out_loss', '.4f'):>9}  {_score(moment)}"
    )


def _number(moment: "Mapping[str, Any]", name: str, form: str) -> str:
    """A number of a moment; "–" if it is missing or damaged."""
    value = moment.get(name)
    return format(value, form) if isinstance(value, int | float) else "–"


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
