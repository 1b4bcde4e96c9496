"""`align`: align translations with their sources, word by word, by the attention of a head."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import (
    add_job_options,
    as_job,
    asking_for_translator,
    check_report,
    comma_list,
    pair_columns,
    progress_writer,
    whole_number,
)
from explorer.core.errors import AlignmentError, FileError

if TYPE_CHECKING:
    from explorer.heads.alignment.aer_report import AlignmentMethod
    from explorer.model.explorable import ExplorableModel


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
        help="of source and translation; then, if there are any, of the right links, and of the "
        "tokens of source and translation (default: 1,2, or the two with texts where those have "
        "numbers alone; all five: 1,2,3,4,5)",
    )
    command.add_argument(
        "--gold", type=Path, help="a file of the right links, to compute the error rate"
    )
    command.add_argument(
        "--layer",
        type=whole_number,
        help="of the decoder, from 0; with --gold alone, all its heads",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--head", type=whole_number, help="one head of the layer, from 0")
    which.add_argument("--mean", action="store_true", help="the mean of the layer's heads")
    command.add_argument(
        "--timing",
        choices=("input", "prediction"),
        help="the row a token is linked from: the one that predicts it (default), or the next, "
        "where it is fed in; with --gold alone, both unless one is named",
    )
    command.add_argument(
        "--tokens",
        choices=("columns", "pieces", "words", "whitespace"),
        help="what to link: tokens in columns of their own, of a text as it is written (default "
        "with such columns); pieces of words (default), words as the app shows them, or what "
        "spaces separate (default with right links, which count so)",
    )
    command.add_argument("--out", type=Path, help="x.pharaoh; without it, the links are printed")
    command.add_argument(
        "--report", type=Path, help="x.csv or x.json: the error rates, with right links"
    )
    command.add_argument("--called", help="what the report calls the pairs (default: their file)")
    add_job_options(command)


def _align(options: argparse.Namespace) -> int:
    from explorer.core.files import write_atomically
    from explorer.heads.alignment.aer_by_head import align_pairs, error_rate_table
    from explorer.heads.alignment.gold_file import AlignmentFile
    from explorer.model.catalog import named_checkpoint
    from explorer.model.explorable import load

    options.model = named_checkpoint(options.model)
    columns = pair_columns(options.pairs, options.columns)
    given = AlignmentFile.read(options.pairs, columns, options.tokens, options.gold)
    pairs, gold = given.pairs, given.gold
    if options.report is not None and gold is None:
        raise AlignmentError("report_without_gold")
    _check_outputs(options)
    model = load(options.model)
    methods = _methods(options, model, compared=gold is not None)
    with asking_for_translator(model.name, model.facts):
        aligned = align_pairs(
            model,
            pairs,
            methods,
            tokens=given.tokens,
            gold=gold,
            progress=progress_writer(options.progress),
        )
    for rows, why in (
        (aligned.skipped, "are too long for the model and were skipped"),
        (aligned.unlinked, "have no links and are not counted in the error rates"),
        (
            aligned.other_words,
            "have another number of words than spaces separate; if the links count what spaces "
            "separate, give --tokens whitespace",
        ),
    ):
        if rows:
            print(_note(rows, len(pairs), why), file=sys.stderr)
    if gold is not None:
        print(error_rate_table(aligned), end="")
        if options.report is not None:
            aligned.report(options.called or options.pairs.name, given.unit).save(options.report)
    best = next(one for one in aligned.methods if one.method.layer is not None)
    if options.out is not None:
        write_atomically(options.out, best.text().encode())
        print(f"{options.out}: {best.method.name} (pairs: {len(pairs)})")
    elif gold is None:
        print(best.text(), end="")
    return 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Raise `FileError` if the links or the report could not be written, or if both go to one
    file."""
    from explorer.core.files import check_output

    out, report = options.out, options.report
    inputs = (options.model, options.pairs, options.gold)
    check_report(report, inputs)
    if out is not None and report is not None and out.resolve() == report.resolve():
        raise FileError("two_outputs_in_one_file", name=out.name)
    if out is not None:
        check_output(out, inputs)


def _methods(
    options: argparse.Namespace, model: "ExplorableModel", *, compared: bool
) -> "Sequence[AlignmentMethod]":
    """The method asked for. With right links, all of them.

    Raises `AlignmentError` if neither is given, and for heads without a layer.
    """
    from explorer.heads.alignment.aer_by_head import all_methods
    from explorer.heads.alignment.aer_report import AlignmentMethod

    one = options.mean or options.head is not None
    if options.layer is None if one else not compared:
        raise AlignmentError("which_head")
    if one:
        return [AlignmentMethod(options.layer, options.head, options.timing or "prediction")]
    return all_methods(model, options.layer, options.timing)


def _note(rows: "Sequence[int]", pairs: int, why: str) -> str:
    """A sentence with a note for the reader on some pairs, such as that they were left out."""
    shown = ", ".join(map(str, rows[:10])) + (" …" if len(rows) > 10 else "")
    return f"{len(rows)} of {pairs} pairs {why}: rows {shown}"
