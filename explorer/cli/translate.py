"""`translate`: the greedy translations of a file of texts, as pairs to read or to train on."""

import argparse
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import asking_for_translator
from explorer.core.errors import PairsError

if TYPE_CHECKING:
    from explorer.model.checkpoint import Checkpoint


def add_parser(commands: Any) -> None:
    command = commands.add_parser("translate", help="translate a file of texts")
    command.set_defaults(run_command=_translate)
    command.add_argument("model", type=Path, help="of a translator, or the name of one that ships")
    command.add_argument(
        "texts", type=Path, help="a text a line, or a column of a table (tabs, .csv)"
    )
    command.add_argument(
        "--column",
        default="1",
        help="of the texts, by number or by heading (default: 1). By number every row is a text; "
        "by heading the first row holds headings and is not translated, as with --columns of "
        "`train`",
    )
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        help="the table to write, with commas where its name ends in .csv, else with tabs: text, "
        "translation, a row for each distinct text, short ones first; for `train "
        "--further-pairs` of a model in the other direction. Texts that the model has no room "
        "for are left out, and counted",
    )


def _translate(options: argparse.Namespace) -> int:
    from explorer.core.files import check_output, write_atomically
    from explorer.core.vocabulary import shorten
    from explorer.data.parallel_corpus import read_sources
    from explorer.model.catalog import named_checkpoint
    from explorer.model.checkpoint import load_checkpoint

    options.model = named_checkpoint(options.model)
    check_output(options.out, (options.model, options.texts))
    checkpoint = load_checkpoint(options.model)
    texts = list(dict.fromkeys(read_sources(options.texts, options.column)))
    if not texts:
        facts = {"name": shorten(options.texts.name), "column": shorten(options.column)}
        raise PairsError("no_texts", **facts)
    room = checkpoint.model.config.max_length - 1  # the end symbol takes one
    with asking_for_translator(options.model.stem, checkpoint.facts):
        fitting = [text for text in texts if len(checkpoint.source_vocabulary.encode(text)) <= room]
    rows = _translated(checkpoint, sorted(fitting, key=len))
    write_atomically(options.out, _table(rows, commas=options.out.suffix.lower() == ".csv"))
    left_out = len(texts) - len(fitting)
    print(f"{options.out}: translated: {len(rows)}, too long for the model: {left_out}")
    return 0


def _translated(checkpoint: "Checkpoint", texts: Sequence[str]) -> list[tuple[str, str]]:
    """Each text with its translation, and a progress bar that counts them."""
    from tqdm import tqdm

    from explorer.training.translation_metrics import translate

    sides = checkpoint.source_vocabulary, checkpoint.target_vocabulary
    with tqdm(total=len(texts), unit="text") as bar:
        written = translate(checkpoint.model, *sides, texts, bar.update)
    return [(text, " ".join(one.split())) for text, one in zip(texts, written, strict=True)]


def _table(rows: Sequence[tuple[str, str]], *, commas: bool) -> bytes:
    """The rows in columns, as CSV with the byte order mark that spreadsheets need for UTF-8, or
    with tabs."""
    if not commas:
        return "".join(f"{text}\t{written}\n" for text, written in rows).encode()
    table = io.StringIO(newline="")
    csv.writer(table).writerows(rows)
    return table.getvalue().encode("utf-8-sig")
