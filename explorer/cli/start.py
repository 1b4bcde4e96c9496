"""`start` and `class`: start the app, for one person or for a class on the local network."""

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    command = commands.add_parser("start", help="start the app (the default)")
    command.set_defaults(run_command=start)
    _add_port(command)
    command = commands.add_parser("class", help="start the app for a class on the local network")
    command.set_defaults(run_command=_start_class)
    _add_port(command)
    command.add_argument("--address", default="", help="to listen on (default: all addresses)")
    command.add_argument(
        "--name", default="", help="by which guests open the app (default: the address)"
    )


def _add_port(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, help="default: the first free one from 8501 on")


def start(options: argparse.Namespace) -> int:
    from explorer.app.server import launch

    port: int | None = getattr(options, "port", None)  # absent without a command
    return launch.serve({} if port is None else {"server.port": port})


def _start_class(options: argparse.Namespace) -> int:
    from explorer.app.server import launch

    return launch.serve_class(options.port, options.address, options.name)
