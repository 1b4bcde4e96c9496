"""Carry a run out: train, and write down everything that happens where others can see it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from explorer.core.errors import ExplorerError, RunError, TrainingError
from explorer.model.checkpoint import to_bytes, write_atomically
from explorer.model.explorable import ExplorableModel
from explorer.training import distributed
from explorer.training.run_directory import Run, Status, queue
from explorer.training.run_heartbeat import BEAT, Heartbeat
from explorer.training.trainer import Moment, Trainer, choose_device

KEEP = 5.0
"""Seconds between two kept states while the run goes on."""

Listener = Callable[[Moment], None]


def carry_out(run: Run, listen: Listener = lambda moment: None) -> Status:
    """Train `run` from where it stands to its end, or until it is asked to stop.

    One job a device: the others wait for their turn, first come, first served. Whatever goes
    wrong is written into the run's status, then raised; who finds the run in the hands of
    another process writes nothing.
    """
    if distributed.rank() > 0:
        return _follow(run)
    with run.owned(), Heartbeat(run) as heart:
        step = run.status().step
        try:
            run.withdraw_stop()
            with _turn(run, heart, step) as mine:
                if not distributed.agreed(mine):
                    return heart.tell("stopped", step)
                return _train(run, heart, listen)
        except ExplorerError as error:
            _fail(heart, error)
            raise
        except Exception as error:
            if not _ran_out_of_memory(error):
                kind = type(error).__name__
                _fail(heart, TrainingError("broke_off", name=run.name, kind=kind))
                raise
            full = TrainingError("out_of_memory", device=run.config.device)
            _fail(heart, full)
            raise full from error


def _train(run: Run, heart: Heartbeat, listen: Listener) -> Status:
    heart.tell("preparing", heart.step)
    trainer = _ready(run)
    run.describe_lesson(trainer.data_module.facts())
    run.forget_after(trainer.step)
    looked = kept = 0.0
    for moment in trainer.run():
        heart.tell("running", trainer.step)
        now = time.monotonic()
        if moment is not None:
            _record(run, trainer, moment)
            listen(moment)
            if now - kept >= KEEP or kept == 0.0:
                _keep(run, trainer)
                kept = time.monotonic()
        due = now - looked >= BEAT
        if due:
            looked = now
        together = distributed.world() > 1  # then all look at the same steps, and stop at one
        if (moment is not None if together else due) and distributed.agreed(run.asked_to_stop()):
            break
    _keep(run, trainer)
    return heart.tell("done" if trainer.finished else "stopped", trainer.step)


def _follow(run: Run) -> Status:
    """What the other processes of a parallel training do: train along and write nothing."""
    if not distributed.agreed(False):
        return Status("stopped")
    trainer = _ready(run)
    for moment in trainer.run():
        if moment is not None and distributed.agreed(False):
            break
    return Status("done" if trainer.finished else "stopped", trainer.step)


def _ready(run: Run) -> Trainer:
    """The run's trainer, at the state that was kept."""
    return Trainer(run.config, _read_state(run) if run.state_path.exists() else None)


def _record(run: Run, trainer: Trainer, moment: Moment) -> None:
    """Write down one moment: the probe first, so that a line in the metrics has its picture."""
    model = ExplorableModel(trainer.checkpoint({}), run.name)
    text, answer = trainer.data_module.probe()
    probe = model.trace(text, target=answer)
    write_atomically(run.probe_path(moment.step), probe.to_bytes())
    run.append(moment.line() | {"greedy": model.trace(text).text})


def _keep(run: Run, trainer: Trainer) -> None:
    """Keep the model for those who look at it and the state for those who resume."""
    measured = trainer.moment.measured if trainer.moment else {}
    facts: dict[str, Any] = {
        name: measured[name] for name in ("exact_match", "bleu") if name in measured
    }
    write_atomically(run.checkpoint_path, to_bytes(trainer.checkpoint(facts)))
    write_atomically(run.state_path, save_tensors(trainer.state()))


def _read_state(run: Run) -> dict[str, torch.Tensor]:
    try:
        return dict(load_tensors(run.state_path.read_bytes()))
    except (OSError, SafetensorError, ValueError) as error:
        raise RunError("damaged_run", name=run.name, file=run.state_path.name) from error


@contextmanager
def _turn(run: Run, heart: Heartbeat, step: int) -> Iterator[bool]:
    """Wait until this run's device is free and nobody came before; False when asked to stop."""
    root = run.folder.parent
    device = choose_device(run.config.device)
    lock = FileLock(root / f".{device.type}{device.index or 0}.lock")
    heart.tell("waiting", step)
    while not run.asked_to_stop():
        first = next(iter(queue(root, run.config.device)), run)
        if first.name == run.name:
            try:
                with lock.acquire(timeout=0):
                    yield True
                    return
            except Timeout:
                pass
        time.sleep(BEAT / 2)
    yield False


def _ran_out_of_memory(error: Exception) -> bool:
    # On a CPU torch says so in words alone.
    known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return known or "can't allocate memory" in str(error) or "not enough memory" in str(error)


def _fail(heart: Heartbeat, error: ExplorerError) -> None:
    facts = {name: str(fact) for name, fact in error.facts.items()}
    with suppress(ExplorerError):  # nothing can be written: the missing heartbeat tells
        heart.tell("failed", heart.step, (error.key, facts))
