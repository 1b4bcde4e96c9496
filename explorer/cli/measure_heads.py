"""`measure`: measure every head of a model on an evaluation batch."""

import argparse
from pathlib import Path
from typing import Any

from explorer.cli.common import (
    add_job_options,
    add_model,
    add_removed,
    add_sentences,
    as_job,
    asking_for_translator,
    check_report,
    comma_list,
    evaluation_sentences,
    opened,
    progress_bar,
    progress_writer,
    refuse_sentence_options,
    whole_number,
)
from explorer.core.errors import ConfigError


def add_parser(commands: Any) -> None:
    _add_options(commands.add_parser("measure", help="measure every head of a model"))
    _add_options(commands.add_parser("heads"))  # its old name, which the help does not list


def _add_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run_command=as_job(_measure))
    add_model(command)
    add_sentences(command, seed=", or of masks")
    command.add_argument(
        "--gold",
        type=Path,
        help="sentences, translations and gold links of their words: the role alignment and "
        "the gold metrics are measured on these",
    )
    command.add_argument(
        "--gold-columns",
        type=comma_list,
        help="of source, translation and links, and of the tokens if there are such (default: "
        "1,2,3; all five: 1,2,3,4,5)",
    )
    command.add_argument("--importance", action="store_true", help="also importance by gradient")
    command.add_argument("--ablation", action="store_true", help="also remove each head in turn")
    command.add_argument(
        "--removed-on", type=whole_number, default=256, help="sentences (default: 256)"
    )
    add_removed(command, "bleu_by_head", "--bleu")
    command.add_argument("--out", type=Path, help="x.csv or x.json; without it, a table")
    add_job_options(command)


def _measure(options: argparse.Namespace) -> int:
    from explorer.heads.alignment.linked_sentences import linked_sentences
    from explorer.heads.measure import measure

    out: Path | None = options.out
    inputs = (options.model, options.pairs, options.texts, options.labels, options.gold)
    check_report(out, inputs)
    refuse_sentence_options(options)
    if options.ablation and options.removed_on < 1:
        raise ConfigError("removed_on_none", count=options.removed_on)
    if options.gold_columns is not None and options.gold is None:
        raise ConfigError("only_with", name="gold-columns", needed="--gold")
    write_progress = progress_writer(options.progress)
    model = opened(options)
    batch = evaluation_sentences(model, options)
    linked = None
    if options.gold is not None:
        with asking_for_translator(model.name, model.facts):
            linked = linked_sentences(model, options.gold, options.gold_columns or ("1", "2", "3"))
    with progress_bar(write_progress) as show:
        report = measure(
            model,
            batch,
            show,
            linked=linked,
            gradients=options.importance,
            removed_on=options.removed_on if options.ablation else 0,
        )
    if out is None:
        print(report.summary())
        return 0
    (report.to_csv if out.suffix == ".csv" else report.save)(out)
    print(f"{out}: heads: {len(report.heads)}, sentences: {len(batch)}")
    return 0
