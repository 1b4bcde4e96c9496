"""`beam`: search the output of one text with several beginnings at once."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import add_languages, add_model, opened, whole_number
from explorer.core.errors import FileError

if TYPE_CHECKING:
    import pandas as pd

    from explorer.model.beam import Beam


def add_parser(commands: Any) -> None:
    command = commands.add_parser("beam", help="search the output of one text with a beam")
    command.set_defaults(run_command=_beam)
    add_model(command)
    command.add_argument("text", help="the source, or the prompt of a decoder-only model")
    add_languages(command)
    command.add_argument(
        "--width",
        type=whole_number,
        default=4,
        help="the beginnings that are kept at each step (1 to 100, default: 4); 1 is greedy",
    )
    command.add_argument("--max-new-tokens", type=whole_number, help="the most tokens to decode")
    command.add_argument(
        "--length-penalty",
        type=float,
        default=0.0,
        metavar="ALPHA",
        help="of Wu et al. 2016; above 0, longer outputs are preferred (default: 0, plain sums)",
    )
    command.add_argument(
        "--out", type=Path, help="x.csv, with all nodes of the tree; without it, the outputs found"
    )


def _beam(options: argparse.Namespace) -> int:
    from explorer.core.csv_text import csv_bytes
    from explorer.core.files import check_output, write_atomically
    from explorer.model.beam_search import beam

    out: Path | None = options.out
    if out is not None:
        if out.suffix != ".csv":
            raise FileError("bad_table_suffix", name=out.name)
        check_output(out, (options.model,))
    found = beam(
        opened(options),
        options.text,
        width=options.width,
        max_new_tokens=options.max_new_tokens,
        length_penalty=options.length_penalty,
    )
    if out is None:
        print(_outputs(found).to_string(index=False, float_format="{:.4f}".format))
        return 0
    write_atomically(out, csv_bytes(found.table.reset_index()))
    print(f"{out}: {len(found.nodes)} nodes, best: {found.best.text}")
    return 0


def _outputs(found: "Beam") -> "pd.DataFrame":
    """The outputs, the best first."""
    import pandas as pd

    rows = [(found.score(node), node.sum, str(node.fate), node.text) for node in found.outputs]
    return pd.DataFrame(rows, columns=["score", "sum", "fate", "text"])
