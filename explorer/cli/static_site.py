"""`site`: write the static site, the app's pages as files in which the browser itself decodes."""

import argparse
import sys
from pathlib import Path
from typing import Any

from explorer.core.errors import ConfigError
from explorer.core.files import printable


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "site", help="write pages that need no server, with the models in them"
    )
    command.set_defaults(run_command=_write)
    command.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="a new folder, or an earlier site"
    )
    command.add_argument(
        "--models",
        nargs="+",
        metavar="NAME",
        help="of the models that ship, the one to open with first (default: all)",
    )


def _write(options: argparse.Namespace) -> int:
    from explorer.core import folders
    from explorer.model.catalog import shipped_models

    listed = shipped_models()
    if not listed:
        raise ConfigError("no_site_models", folder=printable(str(folders.checkpoints())))
    names: list[str] = options.models or list(listed)
    for name in names:
        if name not in listed:
            raise ConfigError("bad_choice", name="--models", got=name, choices=", ".join(listed))
    from explorer.app.static_site import write_static_site

    models = [listed[name] for name in dict.fromkeys(names)]
    size = write_static_site(models, options.out, lambda name: print(name, file=sys.stderr))
    print(f"{options.out / 'index.html'}: open it in a browser ({size / 1e6:.0f} MB in all)")
    return 0
