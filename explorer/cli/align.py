"""`align`: align translations with their sources, word by word, by the attention of a head."""

import argparse
from pathlib import Path
from typing import Any

from explorer.cli.common import comma_list
from explorer.core.errors import AlignmentError


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "align", help="link each word of translations to a word of their source, by attention"
    )
    command.set_defaults(run_command=_align)
    command.add_argument("checkpoint", type=Path)
    command.add_argument("--pairs", type=Path, required=True, help="sentences and translations")
    command.add_argument(
        "--columns", type=comma_list, default=("1", "2"), help="of the file (default: 1 2)"
    )
    command.add_argument("--gold", type=Path, help="the right links, to compute the error rate")
    command.add_argument(
        "--layer", type=int, help="of the decoder, from 0; with --gold alone, all its heads"
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--head", type=int, help="one head of the layer, from 0")
    which.add_argument("--mean", action="store_true", help="the mean of the layer's heads")
    command.add_argument(
        "--timing",
        choices=("input", "prediction"),
        help="the row a token is linked from: the one that predicts it (default), or the next, "
        "where it is fed in; with --gold alone, both unless one is named",
    )
    command.add_argument("--words", action="store_true", help="link words, not pieces of words")
    command.add_argument("--out", type=Path, help="x.pharaoh; without it, the links are printed")


def _align(options: argparse.Namespace) -> int:
    from explorer.core.files import refuse_unwritable, write_atomically
    from explorer.data.parallel_corpus import read_rows
    from explorer.heads.corpus_alignment import (
        AlignmentMethod,
        align_pairs,
        all_methods,
        error_rate_table,
    )
    from explorer.model.explorable import load

    one = (
        options.mean or options.head is not None
    )  # otherwise several are compared by their error rates
    needed = options.layer if one else options.gold
    if needed is None:
        raise AlignmentError("which_head")
    if options.out is not None:
        refuse_unwritable(options.out)
    model = load(options.checkpoint)
    timing = options.timing
    methods = (
        [AlignmentMethod(options.layer, options.head, timing or "prediction")]
        if one
        else all_methods(model, options.layer, timing)
    )
    pairs = read_rows(options.pairs, options.columns)
    aligned = align_pairs(model, pairs, methods, in_words=options.words, gold_path=options.gold)
    if options.gold is not None:
        print(error_rate_table(aligned), end="")
    if options.out is not None:
        write_atomically(options.out, aligned[0].text().encode())
        print(f"{options.out}: {len(pairs)} pairs, {aligned[0].method.name}")
    elif options.gold is None:
        print(aligned[0].text(), end="")
    return 0
