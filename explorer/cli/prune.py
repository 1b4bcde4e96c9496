"""`prune`: pruning curves, the loss of a model as its heads are removed one after another."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import (
    add_job_options,
    add_labels,
    add_languages,
    add_model,
    as_job,
    comma_list,
    evaluation_sentences,
    progress_writer,
    refuse_sentence_options,
    whole_number,
)
from explorer.core.errors import FileError, PruningError

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
    add_labels(command)
    add_languages(command)
    command.add_argument(
        "--sentences", type=whole_number, default=256, help="how many (default: 256)"
    )
    command.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of the task's generator or of masks, and of the random orders (default: 0)",
    )
    command.add_argument(
        "--pairs",
        type=Path,
        help="sentences and translations: their dev part; of a translator also BLEU is measured",
    )
    command.add_argument(
        "--columns",
        type=comma_list,
        help="of that file (default: 1 2, or the two with texts where those have numbers alone)",
    )
    command.add_argument("--texts", type=Path, help="one text a line, as of the command measure")
    command.add_argument(
        "--out",
        type=Path,
        help="x.json, to which each point is written when it is measured, and with which a "
        "command that was ended goes on; or x.csv; without it, a table",
    )
    add_job_options(command)


def _prune(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from explorer.core.files import check_output
    from explorer.heads.pruning.pruning_report import PruningReport
    from explorer.heads.pruning.pruning_study import pruning_study
    from explorer.model.opening import load

    out: Path | None = options.out
    if out is not None and out.suffix not in (".csv", ".json"):
        raise FileError("bad_report_suffix", name=out.name)
    refuse_sentence_options(options)
    if not options.orders:
        raise PruningError("no_orders")
    if out is not None:
        check_output(out, (options.model, options.pairs, options.texts, options.labels))
    begun = None
    if out is not None and out.suffix == ".json" and out.exists():
        begun = PruningReport.load(out)
    write_progress = progress_writer(options.progress)
    model = load(options.model, download=options.download)
    model = model.in_languages(options.source_language, options.target_language)
    batch, references = evaluation_sentences(model, options)
    with tqdm(total=1.0, bar_format="{percentage:3.0f} % |{bar}| {remaining}") as bar:

        def show(share: float) -> None:
            bar.update(share - bar.n)
            write_progress(share)

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
