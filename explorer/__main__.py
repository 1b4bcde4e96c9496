"""The command line: `python -m explorer` starts the app; `train` and `trace` work without it."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.errors import AlignmentError, ExplorerError, TraceError
from explorer.language import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from explorer.checkpoint import Checkpoint
    from explorer.recording import Listener
    from explorer.runs import Run
    from explorer.sentences import Sentences
    from explorer.settings import TrainingConfig
    from explorer.tracing import ExplorableModel
    from explorer.training import Moment


_INTERVENTIONS = {  # option → what it does; "--ablate cross.1.2" says "ablate cross.1.2"
    "ablate": "remove a head: cross.1.2, or 'cross.1.2 mean'",
    "keep": "of its site, only the kept heads stay: cross.1.2",
    "close": "close a cell: 'cross.1.2 QUERY KEY', 'cross.*.* QUERY KEY' in all heads",
    "open": "open a cell: 'decoder.1.2 QUERY KEY'",
    "row": "set a row of weights: 'cross.1.2 QUERY 0.5,0.5'",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when it could not, 130 when it
    was interrupted."""
    parser = argparse.ArgumentParser(prog="python -m explorer", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _describe_start(commands)
    _describe_train(commands)
    _describe_trace(commands)
    _describe_heads(commands)
    _describe_align(commands)
    _describe_runs(commands)
    options = parser.parse_args(arguments)
    run = getattr(options, "run_command", _start)
    try:
        return int(run(options))
    except ExplorerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _describe_start(commands: Any) -> None:
    command = commands.add_parser("start", help="start the app (what no command does, too)")
    command.set_defaults(run_command=_start)
    command = commands.add_parser("class", help="start it for a class on the local network")
    command.set_defaults(run_command=_start_class)


def _describe_train(commands: Any) -> None:
    from explorer.settings import TrainingConfig, translation

    command = commands.add_parser("train", help="train a Transformer and save its checkpoint")
    command.set_defaults(run_command=_train)
    command.add_argument(
        "--out",
        type=Path,
        help="the file to write, judged on held-out data (default: TASK.safetensors, or with "
        "--run none)",
    )
    command.add_argument("--half", action="store_true", help="write 16-bit weights: half the size")
    command.add_argument("--credit", help="whose data it was trained on, for the file's facts")
    command.add_argument(
        "--run", type=Path, help="a folder in which to record everything, runs/NAME"
    )
    command.add_argument("--resume", action="store_true", help="go on with the run in that folder")
    command.add_argument("--background", action="store_true", help="give way to other programs")
    plain, pairs = TrainingConfig(), translation("FILE")
    for field in fields(TrainingConfig):
        default, other = getattr(plain, field.name), getattr(pairs, field.name)
        listed = isinstance(default, tuple)
        shown = " ".join(default) if listed else default
        if other != default and field.name not in ("task", "pairs"):
            shown = f"{shown}; with --pairs {other}"
        if isinstance(default, bool):
            kind: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        else:
            kind = {"type": _words if listed else type(default)}
        command.add_argument(
            f"--{field.name.replace('_', '-')}",
            default=None,
            help=f"{say(f'settings.{field.name}')} (default: {shown or 'none'})",
            **kind,
        )


def _describe_trace(commands: Any) -> None:
    command = commands.add_parser("trace", help="trace one text to a page or a .trace file")
    command.set_defaults(run_command=_trace)
    command.add_argument("checkpoint", type=Path)
    command.add_argument("text")
    command.add_argument("--target", help="teacher forcing: the whole output is given")
    command.add_argument("--prefix", help="the beginning of the output is given")
    command.add_argument("--pad-to", type=int, help="run it in a batch padded to this length")
    command.add_argument("--capture", default="pattern", help="pattern (default) or full")
    command.add_argument("--out", type=Path, help="x.html or x.trace; without it, a summary")
    for verb, what in _INTERVENTIONS.items():
        command.add_argument(
            f"--{verb}", action="append", default=[], metavar="WHAT", help=f"{what}; repeatable"
        )


def _describe_heads(commands: Any) -> None:
    command = commands.add_parser("heads", help="measure what every head of a model does")
    command.set_defaults(run_command=_heads)
    command.add_argument("checkpoint", type=Path)
    command.add_argument("--sentences", type=int, default=256, help="how many (default: 256)")
    command.add_argument("--seed", type=int, default=0, help="of the task's generator (default: 0)")
    command.add_argument("--pairs", type=Path, help="source and target, a tab between, one a line")
    command.add_argument("--lines", type=Path, help="sources alone; the targets are decoded")
    command.add_argument("--importance", action="store_true", help="by gradient, too")
    command.add_argument("--ablation", action="store_true", help="remove each head in turn, too")
    command.add_argument("--removed-on", type=int, default=64, help="sentences (default: 64)")
    command.add_argument("--out", type=Path, help="x.csv or x.json; without it, a table")


def _describe_align(commands: Any) -> None:
    command = commands.add_parser(
        "align", help="link each word of translations to a word of their source, by attention"
    )
    command.set_defaults(run_command=_align)
    command.add_argument("checkpoint", type=Path)
    command.add_argument("--pairs", type=Path, required=True, help="sentences and translations")
    command.add_argument(
        "--columns", type=_words, default=("1", "2"), help="of the file (default: 1 2)"
    )
    command.add_argument("--gold", type=Path, help="the right links, to compute the error rate")
    command.add_argument("--layer", type=int, help="of the decoder, from 0")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--head", type=int, help="one head of the layer, from 0")
    which.add_argument("--mean", action="store_true", help="the mean of the layer's heads")
    command.add_argument(
        "--timing",
        choices=("input", "prediction"),
        default="prediction",
        help="the row a token is linked from: the one that predicts it (default), or the next, "
        "where it is fed in",
    )
    command.add_argument("--words", action="store_true", help="link words, not pieces of words")
    command.add_argument("--out", type=Path, help="x.pharaoh; without it, the links are printed")


def _describe_runs(commands: Any) -> None:
    command = commands.add_parser("runs", help="list the recorded runs, or show one")
    command.set_defaults(run_command=_runs)
    command.add_argument("show", nargs="?", choices=["show"], help="show one run")
    command.add_argument("name", nargs="?", help="its name")
    command.add_argument("--root", type=Path, default=Path("runs"), help="where the runs are")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def _start(options: argparse.Namespace) -> int:
    from streamlit.web import cli

    app = Path(__file__).resolve().parent.parent / "app.py"
    sys.argv = ["streamlit", "run", str(app)]
    return int(cli.main(standalone_mode=False) or 0)


def _start_class(options: argparse.Namespace) -> int:
    from explorer import classroom

    return classroom.main()


def _train(options: argparse.Namespace) -> int:
    from explorer import parallel
    from explorer.checkpoint import refuse_unwritable

    if options.background:
        _give_way()
    config = _chosen_settings(options)
    if options.out is None and options.run is None:
        options.out = Path(f"{config.task}.safetensors")
    if options.out is not None:
        refuse_unwritable(options.out)
    with parallel.together():
        if options.run is not None:
            return _train_run(options, config)
        return _train_alone(options, config)


def _chosen_settings(options: argparse.Namespace) -> "TrainingConfig":
    """The settings on the command line; the others as they suit the task."""
    from explorer.settings import TrainingConfig, translation

    names = [field.name for field in fields(TrainingConfig)]
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    return replace(translation(options.pairs) if options.pairs else TrainingConfig(), **given)


def _train_alone(options: argparse.Namespace, config: "TrainingConfig") -> int:
    """Train to the end and write one checkpoint."""
    from explorer import parallel
    from explorer.training import Trainer

    trainer = Trainer(config)
    with _bar(config) as show:
        for moment in trainer.run():
            if moment is not None:
                show(moment)
    if parallel.rank() == 0 and trainer.moment is not None:
        _write(options, trainer.checkpoint({}), config, trainer.moment.line())
    return 0


def _write(
    options: argparse.Namespace,
    checkpoint: "Checkpoint",
    config: "TrainingConfig",
    last: "Mapping[str, Any]",
) -> None:
    """Judge what was learnt as it will be in the file, and write the file.

    last: the last moment of the training.
    """
    import torch

    from explorer.checkpoint import from_bytes, save_checkpoint, to_bytes
    from explorer.examination import examine
    from explorer.training import choose_device

    shipped = from_bytes(to_bytes(checkpoint, half=options.half), options.out.name)
    found = examine(shipped, config)
    credit = {"credit": options.credit} if options.credit else {}
    facts = {
        **shipped.facts,
        **found.facts,
        **credit,
        "loss": round(last["loss"], 5),
        "seconds": round(last["seconds"], 1),
        "device": choose_device(config.device).type,
        "torch": torch.__version__,
        "seed": config.seed,
        "command": shlex.join(["python", "-m", "explorer", *sys.argv[1:]]),
    }
    save_checkpoint(replace(shipped, facts=facts), options.out, half=options.half)
    print(f"{options.out}: {found.sentence}")


def _train_run(options: argparse.Namespace, config: "TrainingConfig") -> int:
    """Train in a folder where others can watch; with --resume the folder's settings count."""
    from explorer import parallel
    from explorer.checkpoint import load_checkpoint
    from explorer.recording import carry_out
    from explorer.runs import create_run, find_run
    from explorer.training import choose_device

    folder: Path = options.run
    if options.resume:
        run = find_run(folder.parent, folder.name)
    elif parallel.rank() == 0:  # whose turn it is goes by the device's own name
        run = create_run(folder, replace(config, device=str(choose_device(config.device))))
    parallel.agreed(True)  # the folder is there before anybody reads it
    if parallel.rank() > 0:
        run = find_run(folder.parent, folder.name)
    with _bar(run.config) as show:
        status = carry_out(run, show)
    if parallel.rank() == 0:
        print(f"{folder}: {status.state} at step {status.step}")
        if options.out is not None and status.state == "done":
            checkpoint = load_checkpoint(run.checkpoint_path)
            _write(options, checkpoint, run.config, run.moments()[-1])
    return 0


@contextmanager
def _bar(config: "TrainingConfig") -> "Iterator[Listener]":
    """A progress bar: step, loss, score, tokens a second, time left."""
    from tqdm import tqdm

    from explorer import parallel

    name = "BLEU" if config.pairs else "exact"
    others = parallel.rank() > 0  # they need not say what the first one says
    with tqdm(total=config.steps, unit="step", dynamic_ncols=True, disable=others) as bar:

        def show(moment: "Moment") -> None:
            bar.update(moment.step - bar.n)
            bar.set_postfix_str(
                f"loss {moment.loss:.3f}, {name} {moment.score:.1%}, "
                f"{moment.tokens_per_second / 1000:.1f}k tokens/s"
            )

        yield show


def _give_way() -> None:
    """Lower this process's priority, so that a page being served beside it stays quick."""
    if sys.platform == "win32":
        import ctypes

        below_normal = 0x00004000
        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(10)


def _runs(options: argparse.Namespace) -> int:
    from explorer.runs import find_run, list_runs

    if options.name is None:
        for run in list_runs(options.root):
            print(_line(run))
        return 0
    run = find_run(options.root, options.name)
    print(_line(run))
    for name, value in asdict(run.config).items():
        print(f"  {name:16} {' '.join(value) if isinstance(value, tuple) else value}")
    for moment in run.moments():
        print(
            f"  step {moment['step']:6}  loss {moment['loss']:.4f}  "
            f"{_score(moment)}  {moment['seconds']:.1f} s"
        )
    return 0


def _score(moment: "Mapping[str, Any]") -> str:
    """The figure by which a moment is judged."""
    if "bleu" in moment:
        return f"BLEU {moment['bleu']:.1f}"
    return f"exact {moment['exact_match']:.1%}"


def _line(run: "Run") -> str:
    """One run in one line."""
    status, moments, config = run.status(), run.moments(), run.config
    score = _score(moments[-1]) if moments else "–"
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    steps = f"{status.step}/{config.steps}"
    return f"{run.name:24} {status.state:12} {config.task:9} step {steps:12} {score:12} {made}"


def _trace(options: argparse.Namespace) -> int:
    from explorer.experiments import mean_outputs
    from explorer.interventions import Interventions
    from explorer.sentences import task_sentences
    from explorer.tracing import load

    out: Path | None = options.out
    if out is not None and out.suffix not in (".html", ".trace"):
        raise TraceError("bad_ending", name=out.name)
    lines = [f"{verb} {what}" for verb in _INTERVENTIONS for what in getattr(options, verb)]
    done = Interventions.parse(lines)
    model = load(options.checkpoint)
    trace = model.trace(
        options.text,
        target=options.target,
        prefix=options.prefix,
        pad_to=options.pad_to,
        capture=options.capture,
        means=mean_outputs(model, task_sentences(model, 256)) if done.needs_means else None,
        **done.options(),
    )
    if out is None:
        print(f"{trace!r}\n\n{trace.integrity().to_string(index=False)}")
        return 0
    (trace.save if out.suffix == ".trace" else trace.to_html)(out)
    print(f"{out}: {' '.join(trace.source_tokens)} → {trace.text}")
    return 0


def _heads(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from explorer.survey import survey
    from explorer.tracing import load

    out: Path | None = options.out
    if out is not None and out.suffix not in (".csv", ".json"):
        raise TraceError("bad_findings_ending", name=out.name)
    model = load(options.checkpoint)
    sentences = _sentences(model, options)
    with tqdm(total=1.0, bar_format="{percentage:3.0f} % |{bar}| {remaining}") as bar:

        def show(share: float) -> None:
            bar.update(share - bar.n)

        findings = survey(
            model,
            sentences,
            gradients=options.importance,
            removed_on=options.removed_on if options.ablation else 0,
            progress=show,
        )
    if out is None:
        print(findings.summary())
        return 0
    (findings.to_csv if out.suffix == ".csv" else findings.save)(out)
    print(f"{out}: {len(findings.heads)} heads on {len(sentences)} sentences")
    return 0


def _sentences(model: "ExplorableModel", options: argparse.Namespace) -> "Sentences":
    """What the command line says to measure on."""
    from explorer.sentences import read_lines, read_pairs, task_sentences

    if options.pairs is not None:
        return read_pairs(model, options.pairs, options.sentences)
    if options.lines is not None:
        return read_lines(model, options.lines, options.sentences)
    return task_sentences(model, options.sentences, options.seed)


def _align(options: argparse.Namespace) -> int:
    from explorer.aligner import Reading, align_pairs, readings, report
    from explorer.checkpoint import refuse_unwritable, write_atomically
    from explorer.pairs import read_rows
    from explorer.tracing import load

    chosen = options.layer is not None and (options.mean or options.head is not None)
    if not chosen and (options.gold is None or options.head is not None or options.mean):
        raise AlignmentError("which_head")
    if options.out is not None:
        refuse_unwritable(options.out)
    model = load(options.checkpoint)
    ways = [Reading(options.layer, options.head, options.timing)] if chosen else readings(model)
    pairs = read_rows(options.pairs, options.columns)
    aligned = align_pairs(model, pairs, ways, in_words=options.words, gold_path=options.gold)
    if options.gold is not None:
        print(report(aligned), end="")
    if options.out is not None:
        write_atomically(options.out, aligned[0].text().encode())
        print(f"{options.out}: {len(pairs)} pairs, {aligned[0].reading.name}")
    elif options.gold is None:
        print(aligned[0].text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
