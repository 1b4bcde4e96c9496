"""`language`: what is missing in the file of a further language of the interface."""

import argparse
import sys
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "language", help="print the sentences that a file of a further language lacks, in English"
    )
    command.set_defaults(run_command=_language)
    command.add_argument("file", type=Path, metavar="FILE", help="such as fr.toml")


def _language(options: argparse.Namespace) -> int:
    from explorer.core.files import printable
    from explorer.core.i18n import say
    from explorer.core.language_file_check import check_language

    checked = check_language(options.file)
    for line in checked.missing:
        print(line)
    for fault in checked.faults:
        print(fault, file=sys.stderr)
    file, total = printable(options.file.name), checked.total
    if checked.missing:
        count = total - len(checked.missing)
        told = say("languages.progress", file=file, name=checked.name, count=count, total=total)
    else:
        told = say("languages.complete", file=file, name=checked.name, total=total)
    print(told, file=sys.stderr)
    return 1 if checked.faults else 0
