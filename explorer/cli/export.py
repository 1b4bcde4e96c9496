"""`export`: write a model trained here for another library."""

import argparse
from typing import Any

from explorer.core.errors import ConfigError

_FORMATS = ("huggingface",)


def add_parser(commands: Any) -> None:
    command = commands.add_parser("export", help="write a model for another library")
    command.set_defaults(run_command=_export)
    command.add_argument("model", help="a checkpoint, or the name of a model that ships")
    command.add_argument(
        "--to",
        nargs=2,
        required=True,
        metavar=("FORMAT", "DIR"),
        help=f"{', '.join(_FORMATS)}, and the directory to write",
    )


def _export(options: argparse.Namespace) -> int:
    from explorer.model.catalog import named_checkpoint
    from explorer.model.explorable import load
    from explorer.model.opening import export_huggingface

    kind, folder = options.to
    if kind not in _FORMATS:
        raise ConfigError("bad_choice", name="--to", got=kind, choices=", ".join(_FORMATS))
    difference = export_huggingface(load(named_checkpoint(options.model)), folder)
    print(f"{folder}: the same logits within {difference:.0e}; trace {folder} opens it")
    return 0
