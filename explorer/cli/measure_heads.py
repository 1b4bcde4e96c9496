"""`measure`: measure every head of a model on an evaluation batch."""

import argparse
import sys
from pathlib import Path
from typing import Any

from explorer.cli.common import (
    add_job_options,
    add_labels,
    add_languages,
    add_model,
    as_job,
    asking_for_translator,
    comma_list,
    evaluation_sentences,
    progress_writer,
    refuse_sentence_options,
    whole_number,
)
from explorer.core.errors import ConfigError, EvaluationBatchError, FileError


def add_parser(commands: Any) -> None:
    _add_options(commands.add_parser("measure", help="measure every head of a model"))
    _add_options(commands.add_parser("heads"))  # its old name, which the help does not list


def _add_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run_command=as_job(_measure))
    add_model(command)
    command.add_argument(
        "--sentences", type=whole_number, default=256, help="how many (default: 256)"
    )
    command.add_argument(
        "--seed", type=int, default=0, help="of the task's generator, or of masks (default: 0)"
    )
    command.add_argument("--pairs", type=Path, help="sentences and translations: their dev part")
    command.add_argument(
        "--columns",
        type=comma_list,
        help="of that file (default: 1 2, or the two with texts where those have numbers alone)",
    )
    command.add_argument(
        "--texts",
        type=Path,
        help="one text a line: sources, whose targets are decoded; or of a decoder or encoder "
        "alone, whole texts, whose next or masked tokens are predicted",
    )
    add_labels(command)
    add_languages(command)
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
    command.add_argument(
        "--bleu",
        action="store_true",
        help="with --ablation and --pairs, of a translator: also the change of BLEU without each "
        "head (english-french: about 3 minutes more on a free core)",
    )
    command.add_argument("--out", type=Path, help="x.csv or x.json; without it, a table")
    add_job_options(command)


def _measure(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from explorer.core.files import check_output
    from explorer.heads.alignment.linked_sentences import linked_sentences
    from explorer.heads.measure import measure
    from explorer.model.opening import load

    out: Path | None = options.out
    if out is not None and out.suffix not in (".csv", ".json"):
        raise FileError("bad_report_suffix", name=out.name)
    if out is not None:
        check_output(
            out, (options.model, options.pairs, options.texts, options.labels, options.gold)
        )
    refuse_sentence_options(options)
    if options.ablation and options.removed_on < 1:
        raise ConfigError("removed_on_none", count=options.removed_on)
    if options.gold_columns is not None and options.gold is None:
        raise ConfigError("only_with", name="gold-columns", needed="--gold")
    write_progress = progress_writer(options.progress)
    model = load(options.model, download=options.download)
    model = model.in_languages(options.source_language, options.target_language)
    for note in model.notes:
        print(f"note: {note}", file=sys.stderr)
    batch, references = evaluation_sentences(model, options)
    if options.bleu and not (references and options.ablation):
        raise EvaluationBatchError("bleu_needs_pairs")
    linked = None
    if options.gold is not None:
        with asking_for_translator(model.name, model.facts):
            linked = linked_sentences(model, options.gold, options.gold_columns or ("1", "2", "3"))
    with tqdm(total=1.0, bar_format="{percentage:3.0f} % |{bar}| {remaining}") as bar:

        def show(share: float) -> None:
            bar.update(share - bar.n)
            write_progress(share)

        report = measure(
            model,
            batch,
            show,
            linked=linked,
            gradients=options.importance,
            removed_on=options.removed_on if options.ablation else 0,
            references=references if options.bleu else None,
        )
    if out is None:
        print(report.summary())
        return 0
    (report.to_csv if out.suffix == ".csv" else report.save)(out)
    print(f"{out}: heads: {len(report.heads)}, sentences: {len(batch)}")
    return 0
