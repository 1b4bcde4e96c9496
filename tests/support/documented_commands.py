"""The commands in documents and recipes, as the command line reads them."""

import argparse
import re
import shlex
from collections.abc import Iterator
from importlib import import_module

from explorer import __main__ as command_line


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of the explorer in lines of a shell, from its name on."""
    for line in text.replace("\\\n", " ").splitlines():
        called = re.search(r"(?:python -m |attention-)explorer ([a-z].*)", line)
        words = shlex.split(called[1], comments=True) if called else []
        ends = [at for at, word in enumerate(words) if word in ("|", ">", "&&")]
        if words:
            yield words[: min(ends, default=None)]


def parsed(words: list[str]) -> argparse.Namespace:
    """The options of a command. Raises `SystemExit` if it has no such options."""
    parser = argparse.ArgumentParser()
    parsers = parser.add_subparsers()
    for name in command_line._MODULES:
        import_module(f"explorer.cli.{name}").add_parser(parsers)
    return parser.parse_args(words)
