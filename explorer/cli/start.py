"""`start` and `class`: the app, for one person or for a class."""

import argparse
import sys
from pathlib import Path
from typing import Any


def describe(commands: Any) -> None:
    command = commands.add_parser("start", help="start the app (what no command does, too)")
    command.set_defaults(run_command=start)
    command = commands.add_parser("class", help="start it for a class on the local network")
    command.set_defaults(run_command=_start_class)


def start(options: argparse.Namespace) -> int:
    from streamlit.web import cli

    app = Path(__file__).resolve().parents[2] / "app.py"
    sys.argv = ["streamlit", "run", str(app)]
    return int(cli.main(standalone_mode=False) or 0)


def _start_class(options: argparse.Namespace) -> int:
    from explorer.app.server import access

    return access.main()
