"""The command line: `python -m explorer` starts the app; `train` and `trace` work without it."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.errors import ExplorerError, TraceError
from explorer.language import say

if TYPE_CHECKING:
    from explorer.evaluation import Evaluation
    from explorer.training import Trainer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when it could not."""
    parser = argparse.ArgumentParser(prog="python -m explorer", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _describe_start(commands)
    _describe_train(commands)
    _describe_trace(commands)
    options = parser.parse_args(arguments)
    run = getattr(options, "run", _start)
    try:
        return int(run(options))
    except ExplorerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _describe_start(commands: Any) -> None:
    command = commands.add_parser("start", help="start the app (what no command does, too)")
    command.set_defaults(run=_start)
    command = commands.add_parser("class", help="start it for a class on the local network")
    command.set_defaults(run=_start_class)


def _describe_train(commands: Any) -> None:
    from explorer.training import TrainingConfig

    command = commands.add_parser("train", help="train a Transformer and save its checkpoint")
    command.set_defaults(run=_train)
    command.add_argument("--out", type=Path, help="the file to write (default: TASK.safetensors)")
    for field in fields(TrainingConfig):
        default = " ".join(field.default) if field.name == "symbols" else field.default  # type: ignore[arg-type]
        assert default is not MISSING
        command.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(default),
            default=default,
            help=f"{say(f'settings.{field.name}')} (default: {default})",
        )


def _describe_trace(commands: Any) -> None:
    command = commands.add_parser("trace", help="trace one text to a page or a .trace file")
    command.set_defaults(run=_trace)
    command.add_argument("checkpoint", type=Path)
    command.add_argument("text")
    command.add_argument("--target", help="teacher forcing: the whole output is given")
    command.add_argument("--prefix", help="the beginning of the output is given")
    command.add_argument("--pad-to", type=int, help="run it in a batch padded to this length")
    command.add_argument("--capture", default="pattern", help="pattern (default) or full")
    command.add_argument("--out", type=Path, help="x.html or x.trace; without it, a summary")


def _start(options: argparse.Namespace) -> int:
    from streamlit.web import cli

    app = Path(__file__).resolve().parent.parent / "app.py"
    sys.argv = ["streamlit", "run", str(app)]
    return int(cli.main(standalone_mode=False) or 0)


def _start_class(options: argparse.Namespace) -> int:
    from explorer import classroom

    return classroom.main()


def _train(options: argparse.Namespace) -> int:
    from explorer.checkpoint import save_checkpoint
    from explorer.evaluation import evaluate
    from explorer.training import Trainer, TrainingConfig

    settings = {field.name: getattr(options, field.name) for field in fields(TrainingConfig)}
    config = TrainingConfig(**settings | {"symbols": tuple(options.symbols.split())})
    out = options.out or Path(f"{config.task}.safetensors")
    trainer = Trainer(config)
    _watch(trainer)
    evaluation = evaluate(trainer.model, trainer.task, len(config.symbols), config.longest)
    save_checkpoint(trainer.checkpoint(_facts(trainer, evaluation)), out)
    layer, head = evaluation.best_head
    print(
        f"{out}: exact match {evaluation.exact_match:.2%} on held-out sequences of 1 to "
        f"{config.longest} symbols, 300 each; best cross head L{layer} H{head}, "
        f"gold weight {evaluation.gold.max():.3f}"
    )
    return 0


def _watch(trainer: "Trainer") -> None:
    """Train, with a progress bar: step, loss, exact match, tokens a second, time left."""
    from tqdm import tqdm

    with tqdm(total=trainer.config.steps, unit="step", dynamic_ncols=True) as bar:
        for progress in trainer.run():
            bar.update(progress.step - bar.n)
            bar.set_postfix_str(
                f"loss {progress.loss:.3f}, exact {progress.exact_match:.1%}, "
                f"{progress.tokens_per_second / 1000:.1f}k tokens/s"
            )
        if bar.n < trainer.config.steps:
            bar.write(f"stopped early at step {bar.n}: exact match reached")


def _facts(trainer: "Trainer", evaluation: "Evaluation") -> dict[str, Any]:
    """What a checkpoint says about itself."""
    import torch

    progress = trainer.progress
    assert progress is not None
    return {
        "exact_match": round(evaluation.exact_match, 5),
        "exact_match_by_length": {
            str(length): round(share, 5)
            for length, share in evaluation.exact_match_by_length.items()
        },
        "gold_weight": evaluation.gold.round(4).tolist(),
        "loss": round(progress.loss, 5),
        "seconds": round(progress.seconds, 1),
        "device": trainer.device.type,
        "torch": torch.__version__,
        "seed": trainer.config.seed,
        "command": shlex.join(["python", "-m", "explorer", *sys.argv[1:]]),
    }


def _trace(options: argparse.Namespace) -> int:
    from explorer.tracing import load

    out: Path | None = options.out
    if out is not None and out.suffix not in (".html", ".trace"):
        raise TraceError("bad_ending", name=out.name)
    trace = load(options.checkpoint).trace(
        options.text,
        target=options.target,
        prefix=options.prefix,
        pad_to=options.pad_to,
        capture=options.capture,
    )
    if out is None:
        print(f"{trace!r}\n\n{trace.integrity().to_string(index=False)}")
        return 0
    (trace.save if out.suffix == ".trace" else trace.to_html)(out)
    print(f"{out}: {' '.join(trace.source_tokens)} → {trace.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
