"""`train`: train a Transformer into a checkpoint file, a run folder, or both."""

import argparse
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import lower_priority
from explorer.cli.train_options import (
    FILES,
    add_options,
    chosen_settings,
    refuse_other_settings,
    refuse_run_options,
)
from explorer.core.i18n import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from explorer.jobs.stop_signals import StopSignals
    from explorer.jobs.training_run import Run
    from explorer.jobs.training_worker import DataListener, Listener
    from explorer.model.checkpoint import Checkpoint
    from explorer.training.config import TrainingConfig
    from explorer.training.data_modules import DataModule
    from explorer.training.trainer import Moment


_FIRST_ROWS = 20  # for recognising the kind of texts in a column
_SHARE_BAR = "{desc}: {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]"
_USAGE = (
    "%(prog)s [--task TASK | --pairs FILE | --texts FILE] [--quick] [--run FOLDER [--resume]] "
    "[--out FILE] [SETTINGS]"
)

_EXAMPLES = """examples:
  %(prog)s --task sort --run runs/mine              a toy task, recorded
  %(prog)s --task sort --quick --run runs/demo      the same as the app's Quick demo
  %(prog)s --run runs/mine --resume                 go on after Ctrl-C or a power cut
  %(prog)s --pairs pairs.tsv --patience 10 --run runs/fr --out fr.safetensors
  %(prog)s --texts sentences.txt --run runs/lm      a small language model, without an encoder
  %(prog)s --pairs ours.tsv --start fr.safetensors  go on from a model with other pairs
"""


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "train",
        help="train a Transformer and save its checkpoint",
        usage=_USAGE,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run_command=_train)
    add_options(command)


def _train(options: argparse.Namespace) -> int:
    from explorer.jobs.stop_signals import StopSignals

    with StopSignals() as stops:  # before torch is imported, which takes a second
        return _train_until(options, stops)


def _train_until(options: argparse.Namespace, stops: "StopSignals") -> int:
    """Train until the end or a signal; returns the exit status."""
    from explorer.core.files import check_output
    from explorer.jobs.training_run import find_run
    from explorer.training import distributed

    refuse_run_options(options)
    if options.run is not None and options.resume:
        run = find_run(options.run.parent, options.run.name)
        run.refuse_diverged()
        config = run.config
        refuse_other_settings(options, config)
    else:
        config = chosen_settings(options)
    if config.processes > 1 and not distributed.is_launched():
        return distributed.launch(sys.argv[1:], config.processes)
    if options.background:
        lower_priority()
    if options.out is None and options.run is None:
        options.out = Path(f"{config.task}.safetensors")
    if options.out is not None:
        check_output(options.out, [getattr(config, name) for name in FILES])
    with distributed.process_group():
        if distributed.world_size() > 1 and distributed.rank() == 0:
            print(say("train.processes", count=distributed.world_size()), flush=True)
        if options.run is not None:
            return _train_run(options, config, stops)
        return _train_alone(options, config, stops)


def _train_alone(
    options: argparse.Namespace, config: "TrainingConfig", stops: "StopSignals"
) -> int:
    """Train to the end and write one checkpoint. A training that is stopped writes nothing."""
    from explorer.training import distributed
    from explorer.training.trainer import Trainer

    trainer = Trainer(config)
    if distributed.rank() == 0:
        _print_data(trainer.data_module)
        print(say("train.kept_at_end", name=options.out), file=sys.stderr, flush=True)
    with _progress_bar(config) as show:
        for moment in trainer.run():
            if moment is not None:
                show(moment)
            # Several processes agree at moments only, so that all stop at the same step.
            agree = moment is not None or distributed.world_size() == 1
            if agree and distributed.broadcast_decision(stops()):
                break
    if not trainer.finished:
        if distributed.rank() == 0:
            print(say("train.stopped_unsaved", step=trainer.step))
        return stops.exit_status
    if distributed.rank() == 0 and trainer.moment is not None:
        _write(options, trainer.checkpoint({}), config, trainer.moment.line())
    return 0


def _resolved(config: "TrainingConfig") -> "TrainingConfig":
    """`config` with the name of its device, which runs use to wait for it, and the absolute paths
    of its files, so that the run can be resumed from another folder."""
    from explorer.training.device import choose_device

    files: dict[str, Any] = {
        name: str(Path(file).resolve()) for name in FILES if (file := getattr(config, name))
    }
    return replace(config, device=str(choose_device(config.device)), **files)


def _command() -> str:
    """The command that makes the same file again."""
    return shlex.join(["python", "-m", "explorer", *(a for a in sys.argv[1:] if a != "--resume")])


def _train_run(options: argparse.Namespace, config: "TrainingConfig", stops: "StopSignals") -> int:
    """Train in a run folder. With --resume, use the settings in it."""
    from tqdm import tqdm

    from explorer.jobs.training_run import create_run, find_run
    from explorer.jobs.training_worker import run_training
    from explorer.model.checkpoint import load_checkpoint
    from explorer.training import distributed

    folder: Path = options.run
    new_folder = not folder.exists()
    if options.resume:
        run = find_run(folder.parent, folder.name)
    elif distributed.rank() == 0:
        run = create_run(folder, _resolved(config))
    distributed.broadcast_decision(True)  # wait until the folder exists
    if distributed.rank() > 0:
        run = find_run(folder.parent, folder.name)
    first = run.saved_step
    if options.resume and distributed.rank() == 0:
        print(say("train.going_on", name=folder, step=first, steps=run.config.steps), flush=True)
    device, parent = run.config.device, folder.resolve().parent
    waits = say("train.waits", name=folder, folder=parent, device=device)
    with (
        _discarded_if_refused(run, options, new_folder) as on_data,
        _progress_bar(run.config, first) as show,
    ):
        status = run_training(run, show, stops, on_wait=lambda: tqdm.write(waits), on_data=on_data)
    if distributed.rank() == 0:
        if status.state == "stopped":
            print(say("train.stopped_at", name=folder, step=status.step))
        else:
            print(f"{folder}: {status.state} at step {status.step}")
        if options.out is not None and status.state == "done":
            best = run.config.patience > 0 and run.best_path.exists()
            checkpoint = load_checkpoint(run.best_path if best else run.checkpoint_path)
            _write(options, checkpoint, run.config, run.moments()[-1])
    return stops.exit_status if status.state == "stopped" and stops() else 0


@contextmanager
def _discarded_if_refused(
    run: "Run", options: argparse.Namespace, new_folder: bool
) -> "Iterator[DataListener]":
    """Undo the creation of `run` if its data are refused, so that its name is free for the
    corrected command. Yields the listener to call once the data are read.

    new_folder: whether this command created the folder of the run.
    """
    from explorer.core.errors import ExplorerError
    from explorer.training import distributed

    read = False

    def on_data(data: "DataModule") -> None:
        nonlocal read
        read = True
        _print_data(data)

    try:
        yield on_data
    except ExplorerError:
        if not (read or options.resume) and distributed.rank() == 0:
            run.discard(with_folder=new_folder)
        raise


def _print_data(data: "DataModule") -> None:
    """Print the number of pairs or texts to train on and held out, and warnings about columns of
    pairs. Print nothing for a toy task."""
    from tqdm import tqdm

    from explorer.data.column_guess import is_numbers, prepared_mark
    from explorer.training.text_data import TextDataModule
    from explorer.training.translation_data import TranslationDataModule

    if isinstance(data, TextDataModule):
        counts: dict[str, Any] = {**data.text_counts(), **data.part_sizes()}
        tqdm.write(say("train.texts_read", name=Path(data.config.texts).name, **counts))
    if isinstance(data, TranslationDataModule):
        facts: dict[str, Any] = {**data.pair_counts(), **data.part_sizes()}
        name, columns = Path(data.config.pairs).name, data.config.columns
        read = say("train.pairs_read", name=name, columns=", ".join(columns), **facts)
        tqdm.write(read)  # above the progress bar
        rows = tuple((pair.source, pair.target) for pair in data.corpus.pairs[:_FIRST_ROWS])
        for side, column in enumerate(columns):
            if is_numbers(rows, side):
                tqdm.write(say("train.pairs_numbers", column=column))
            if mark := prepared_mark(rows, side):
                tqdm.write(say("train.pairs_prepared", column=column, mark=mark))


def _write(
    options: argparse.Namespace,
    checkpoint: "Checkpoint",
    config: "TrainingConfig",
    last: "Mapping[str, Any]",
) -> None:
    """Write the checkpoint, evaluate it after reading the file back, and add the results to it.

    last: the last moment of the training.
    """
    import torch
    from tqdm import tqdm

    from explorer.model.checkpoint import load_checkpoint, save_checkpoint
    from explorer.training.device import choose_device
    from explorer.training.final_evaluation import evaluate_checkpoint

    save_checkpoint(checkpoint, options.out, half=options.half)
    shipped = load_checkpoint(options.out)
    bar = tqdm(total=1.0, desc=say("train.evaluates"), bar_format=_SHARE_BAR, dynamic_ncols=True)
    with bar:
        found = evaluate_checkpoint(shipped, config, lambda share: bar.update(share - bar.n))
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
def _progress_bar(config: "TrainingConfig", first: int = 0) -> "Iterator[Listener]":
    """A progress bar: step, loss, score, tokens a second, time left.

    first: the step from which the training continues.
    """
    from tqdm import tqdm

    from explorer.training import distributed

    name = "BLEU" if config.pairs else "next token" if config.texts else "exact"
    others = distributed.rank() > 0  # only rank 0 prints
    # With a delay the first line or moment draws the bar: data that are refused have none.
    with tqdm(
        total=config.steps,
        initial=first,
        unit="step",
        dynamic_ncols=True,
        disable=others,
        delay=0.001,  # s
    ) as bar:

        def show(moment: "Moment") -> None:
            bar.update(moment.step - bar.n)
            bar.set_postfix_str(
                f"loss {moment.loss:.3f}, {name} {moment.score:.1%}, "
                f"{moment.tokens_per_second / 1000:.1f}k tokens/s"
            )

        yield show
        bar.refresh()  # a run that is resumed after its last step has no moment
