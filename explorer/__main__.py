"""A visual attention explorer for Transformers: without a command, start the app."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from explorer import __version__
from explorer.core.errors import ExplorerError, RemovedError

_COMMAND = "attention-explorer"
"""The installed command; from a checkout it is `python -m explorer`."""


_MODULES = (
    *("start", "train", "trace", "measure_heads", "search", "align"),
    *("translate", "export", "language", "convert", "static_site", "runs"),
)
"""Those of the commands, in `explorer.cli`, in the order in which the help lists them."""

_REMOVED = ("beam", "prune")
"""Commands of earlier versions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    0: done; 2: an `ExplorerError`, whose sentence is printed; 128 + n: ended by signal n,
    130 after Ctrl-C, 141 where nobody reads the output any more, as after `| head`.
    """
    _print_all_characters()
    called = Path(sys.argv[0]).stem
    prog = _COMMAND if called == _COMMAND else "python -m explorer"
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument("--version", action="version", version=f"{_COMMAND} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    words = sys.argv[1:] if arguments is None else arguments
    for command in _commands(words):
        command.add_parser(commands)
    try:
        if words and words[0] in _REMOVED:
            raise RemovedError(words[0])
        options, unknown = parser.parse_known_args(words or ["start"])
        if unknown:  # argparse itself would print the usage of all commands
            own = commands.choices.get(options.command, parser)
            own.error(f"unrecognized arguments: {' '.join(unknown)}")
        status = int(options.run_command(options))
        sys.stdout.flush()
        return status
    except ExplorerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # Python itself would write the rest once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _commands(words: Sequence[str]) -> list[ModuleType]:
    """The modules of the commands; for the app its own alone, so that it starts sooner."""
    needed = _MODULES if words and words[0] not in ("start", "class") else ("start",)
    return [import_module(f"explorer.cli.{name}") for name in needed]


def _print_all_characters() -> None:
    """Print what the console's encoding lacks as escapes, such as \\u2192 for an arrow."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
