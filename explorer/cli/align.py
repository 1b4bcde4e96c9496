"""`align`: align translations with their sources, word by word, by the attention of a head."""

import argparse
import sys
from pathlib import Path
from typing import Any

from explorer.cli.common import (
    add_job_options,
    add_removed,
    as_job,
    asking_for_translator,
    comma_list,
    pair_columns,
    progress_writer,
    whole_number,
)
from explorer.core.errors import AlignmentError


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "align", help="link each word of translations to a word of their source, by attention"
    )
    command.set_defaults(run_command=as_job(_align))
    command.add_argument("model", type=Path, help="a checkpoint, or the name of a model that ships")
    command.add_argument("--pairs", type=Path, required=True, help="sentences and translations")
    command.add_argument(
        "--columns",
        type=comma_list,
        help="of source and translation; then, if there are any, of links, which are passed over, "
        "and of the tokens of source and translation (default: 1,2, or the two with texts where "
        "those have numbers alone; all five: 1,2,3,4,5)",
    )
    command.add_argument("--layer", type=whole_number, help="of the decoder, from 0")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--head", type=whole_number, help="one head of the layer, from 0")
    which.add_argument("--mean", action="store_true", help="the mean of the layer's heads")
    command.add_argument(
        "--timing",
        choices=("input", "prediction"),
        default="prediction",
        help="the row a token is linked from: the one that predicts it (default), or the next, "
        "where it is fed in",
    )
    command.add_argument(
        "--tokens",
        choices=("columns", "pieces", "words", "whitespace"),
        help="what to link: tokens in columns of their own, of a text as it is written (default "
        "with such columns); pieces of words (default), words as the app shows them, or what "
        "spaces separate (default with a column of links, which count so)",
    )
    command.add_argument("--out", type=Path, help="x.pharaoh; without it, the links are printed")
    add_removed(command, "error_rates", "--gold", "--report", "--called")
    add_job_options(command)


def _align(options: argparse.Namespace) -> int:
    from explorer.core.alignment import pharaoh
    from explorer.core.files import check_output, write_atomically
    from explorer.heads.alignment.gold_file import AlignmentFile
    from explorer.heads.alignment.pair_links import pair_links
    from explorer.model.catalog import named_checkpoint
    from explorer.model.explorable import load

    if options.layer is None or not (options.mean or options.head is not None):
        raise AlignmentError("which_head")
    options.model = named_checkpoint(options.model)
    columns = pair_columns(options.pairs, options.columns)
    file = AlignmentFile.read(options.pairs, columns, options.tokens)
    if options.out is not None:
        check_output(options.out, (options.model, options.pairs))
    model = load(options.model)
    progress = progress_writer(options.progress)
    with asking_for_translator(model.name, model.facts):
        found = pair_links(
            model, file, options.layer, options.head, options.timing, progress=progress
        )
    if skipped := [row for row, links in enumerate(found, start=1) if links is None]:
        shown = ", ".join(map(str, skipped[:10])) + (" …" if len(skipped) > 10 else "")
        why = "are too long for the model and were skipped"
        print(f"{len(skipped)} of {len(found)} pairs {why}: rows {shown}", file=sys.stderr)
    text = "".join(f"{pharaoh(links or frozenset())}\n" for links in found)
    if options.out is None:
        print(text, end="")
        return 0
    write_atomically(options.out, text.encode())
    print(f"{options.out} (pairs: {len(found)})")
    return 0
