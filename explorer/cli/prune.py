"""`prune`: pruning curves, the loss of a model as its heads are removed one after another."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import (
    add_job_options,
    add_model,
    add_sentences,
    as_job,
    check_report,
    comma_list,
    evaluation_sentences,
    opened,
    progress_bar,
    progress_writer,
    refuse_sentence_options,
)
from explorer.core.errors import PruningError

if TYPE_CHECKING:
    from explorer.heads.pruning.pruning_report import PruningReport


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "prune", help="the loss of a model as its heads are removed one after another"
    )
    command.set_defaults(run_command=as_job(_prune))
    add_model(command)
    command.add_argument(
        "--orders",
        type=comma_list,
        default=("importance", "random"),
        help="of removal: importance, confidence, contribution, greedy, random (default: "
        "importance,random)",
    )
    add_sentences(
        command,
        seed=" or of masks, and of the random orders",
        pairs="; of a translator also BLEU is measured",
    )
    command.add_argument(
        "--out",
        type=Path,
        help="x.json, to which each point is written when it is measured, and with which a "
        "command that was ended goes on; or x.csv; without it, a table",
    )
    add_job_options(command)


def _prune(options: argparse.Namespace) -> int:
    from explorer.heads.pruning.pruning_report import PruningReport
    from explorer.heads.pruning.pruning_study import pruning_study

    out: Path | None = options.out
    check_report(out, (options.model, options.pairs, options.texts, options.labels))
    refuse_sentence_options(options)
    if not options.orders:
        raise PruningError("no_orders")
    begun = None
    if out is not None and out.suffix == ".json" and out.exists():
        begun = PruningReport.load(out)
    write_progress = progress_writer(options.progress)
    model = opened(options)
    batch, references = evaluation_sentences(model, options)
    with progress_bar(write_progress) as show:

        def keep(report: "PruningReport") -> None:
            if out is not None:
                report.save(out)

        report = pruning_study(
            model,
            batch,
            options.orders,
            seed=options.seed,
            references=references,
            begun=begun,
            keep=keep,
            progress=show,
        )
    if out is None:
        print(report.table().to_string(index=False, float_format="{:.4f}".format, na_rep=""))
        return 0
    orders = ", ".join(curve.order for curve in report.curves)
    print(f"{out}: {orders} (sentences: {len(batch)})")
    return 0
