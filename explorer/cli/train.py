"""`train`: teach a Transformer, alone into a file or in a folder where others can watch."""

import argparse
import shlex
import sys
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.background import give_way
from explorer.cli.options import words
from explorer.core.i18n import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from explorer.model.checkpoint import Checkpoint
    from explorer.training.config import TrainingConfig
    from explorer.training.run_worker import Listener
    from explorer.training.trainer import Moment


def describe(commands: Any) -> None:
    from explorer.training.config import TrainingConfig, translation

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
            kind = {"type": words if listed else type(default)}
        command.add_argument(
            f"--{field.name.replace('_', '-')}",
            default=None,
            help=f"{say(f'settings.{field.name}')} (default: {shown or 'none'})",
            **kind,
        )


def _train(options: argparse.Namespace) -> int:
    from explorer.model.checkpoint import refuse_unwritable
    from explorer.training import distributed

    if options.background:
        give_way()
    config = _chosen_settings(options)
    if options.out is None and options.run is None:
        options.out = Path(f"{config.task}.safetensors")
    if options.out is not None:
        refuse_unwritable(options.out)
    with distributed.together():
        if options.run is not None:
            return _train_run(options, config)
        return _train_alone(options, config)


def _chosen_settings(options: argparse.Namespace) -> "TrainingConfig":
    """The settings on the command line; the others as they suit the task."""
    from explorer.training.config import TrainingConfig, translation

    names = [field.name for field in fields(TrainingConfig)]
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    return replace(translation(options.pairs) if options.pairs else TrainingConfig(), **given)


def _train_alone(options: argparse.Namespace, config: "TrainingConfig") -> int:
    """Train to the end and write one checkpoint."""
    from explorer.training import distributed
    from explorer.training.trainer import Trainer

    trainer = Trainer(config)
    with _bar(config) as show:
        for moment in trainer.run():
            if moment is not None:
                show(moment)
    if distributed.rank() == 0 and trainer.moment is not None:
        _write(options, trainer.checkpoint({}), config, trainer.moment.line())
    return 0


def _settled(config: "TrainingConfig") -> "TrainingConfig":
    """`config` with the names a run needs wherever and whenever it goes on: its device's own,
    by which it waits its turn, and the whole path of its pairs."""
    from explorer.training.trainer import choose_device

    pairs = str(Path(config.pairs).resolve()) if config.pairs else ""
    return replace(config, device=str(choose_device(config.device)), pairs=pairs)


def _command() -> str:
    """The command that makes the same file again, from the beginning."""
    return shlex.join(["python", "-m", "explorer", *(a for a in sys.argv[1:] if a != "--resume")])


def _train_run(options: argparse.Namespace, config: "TrainingConfig") -> int:
    """Train in a folder where others can watch; with --resume the folder's settings count."""
    from explorer.model.checkpoint import load_checkpoint
    from explorer.training import distributed
    from explorer.training.run_directory import create_run, find_run
    from explorer.training.run_worker import carry_out

    folder: Path = options.run
    if options.resume:
        run = find_run(folder.parent, folder.name)
    elif distributed.rank() == 0:
        run = create_run(folder, _settled(config))
    distributed.agreed(True)  # the folder is there before anybody reads it
    if distributed.rank() > 0:
        run = find_run(folder.parent, folder.name)
    with _bar(run.config) as show:
        status = carry_out(run, show)
    if distributed.rank() == 0:
        print(f"{folder}: {status.state} at step {status.step}")
        if options.out is not None and status.state == "done":
            checkpoint = load_checkpoint(run.checkpoint_path)
            _write(options, checkpoint, run.config, run.moments()[-1])
    return 0


def _write(
    options: argparse.Namespace,
    checkpoint: "Checkpoint",
    config: "TrainingConfig",
    last: "Mapping[str, Any]",
) -> None:
    """Write what was learnt, then judge it as it is in the file, and write that, too.

    last: the last moment of the training.
    """
    import torch

    from explorer.model.checkpoint import load_checkpoint, save_checkpoint
    from explorer.training.final_evaluation import evaluate_checkpoint
    from explorer.training.trainer import choose_device

    save_checkpoint(checkpoint, options.out, half=options.half)
    shipped = load_checkpoint(options.out)
    found = evaluate_checkpoint(shipped, config)
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
        "command": _command(),
    }
    save_checkpoint(replace(shipped, facts=facts), options.out, half=options.half)
    print(f"{options.out}: {found.sentence}")


@contextmanager
def _bar(config: "TrainingConfig") -> "Iterator[Listener]":
    """A progress bar: step, loss, score, tokens a second, time left."""
    from tqdm import tqdm

    from explorer.training import distributed

    name = "BLEU" if config.pairs else "exact"
    others = distributed.rank() > 0  # they need not say what the first one says
    with tqdm(total=config.steps, unit="step", dynamic_ncols=True, disable=others) as bar:

        def show(moment: "Moment") -> None:
            bar.update(moment.step - bar.n)
            bar.set_postfix_str(
                f"loss {moment.loss:.3f}, {name} {moment.score:.1%}, "
                f"{moment.tokens_per_second / 1000:.1f}k tokens/s"
            )

        yield show
