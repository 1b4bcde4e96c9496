"""Carry out a run: train, and record status, moments, checkpoint and state in its folder."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from explorer.core.errors import ExplorerError, RunError, TrainingError
from explorer.core.files import read_bytes
from explorer.core.memory import ran_out_of_memory
from explorer.jobs.heartbeat import INTERVAL, Heartbeat, carried_out
from explorer.jobs.queue import turn
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run
from explorer.model.checkpoint import to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.training import distributed
from explorer.training.data_modules import DataModule
from explorer.training.device import choose_device
from explorer.training.trainer import Moment, Trainer

SAVE_INTERVAL = 5.0
"""Seconds between two saved states of an active run."""

Listener = Callable[[Moment], None]
DataListener = Callable[[DataModule], None]


def run_training(
    run: Run,
    on_moment: Listener = lambda moment: None,
    stops: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], object] = lambda: None,
    on_data: DataListener = lambda data: None,
) -> Status:
    """Train `run` from its saved state to its end, or until a stop is requested.

    stops: asked after each step; True = save and stop, as by a stop request in the folder.
    on_wait: called once if another run has the device.
    on_data: called once the data are read, before the first step.

    One run a device: the others wait, in the order of their creation. Any exception is written
    to the run's status, then raised. Raises `RunError` without writing when another process
    carries the run out, or when its folder is deleted or moved.
    """
    if distributed.rank() > 0:
        return _train_beside(run)
    with carried_out(run) as heartbeat, _enough_memory(run):
        run.withdraw_stop_request()
        with turn(run, heartbeat, _devices(run), stops, on_wait) as reserved:
            if not distributed.broadcast_decision(reserved):
                return heartbeat.update("stopped", heartbeat.step)
            trainer = _prepare(run, heartbeat)
            on_data(trainer.data_module)
            return _train(run, trainer, heartbeat, on_moment, stops)


@contextmanager
def _enough_memory(run: Run) -> Iterator[None]:
    """Raise `TrainingError` if the block runs out of memory."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ExplorerError) or not ran_out_of_memory(error):
            raise
        raise TrainingError("out_of_memory", device=run.config.device) from error


def _devices(run: Run) -> list[str]:
    """The names of the run's device, or of the GPUs of all its processes."""
    device = choose_device(run.config.device)
    return [f"{device.type}{number}" for number in distributed.gpu_numbers(device)]


def _prepare(run: Run, heartbeat: Heartbeat) -> Trainer:
    """The run's trainer; also write the facts of its data, and discard later moments."""
    heartbeat.update("preparing", heartbeat.step)
    trainer = _make_trainer(run)
    run.write_data_facts(trainer.data_module.facts())
    run.discard_after(trainer.step)
    return trainer


def _train(
    run: Run,
    trainer: Trainer,
    heartbeat: Heartbeat,
    on_moment: Listener,
    stops: Callable[[], bool],
) -> Status:
    checked = saved = 0.0
    best: bytes | None = None  # not written yet
    try:
        for moment in trainer.run():
            heartbeat.update("running", trainer.step)
            now = time.monotonic()
            if moment is not None:
                _record(run, trainer, moment)
                on_moment(moment)
                if moment.best:
                    best = _serialised(trainer)
                if now - saved >= SAVE_INTERVAL or saved == 0.0:
                    _save(run, trainer, best)
                    best = None
                    saved = time.monotonic()
            asks = now - checked >= INTERVAL
            if asks:
                run.refuse_deleted()
                checked = now
            if _stops(run, stops, asks, moment):
                break
    except TrainingError:  # it diverged: its present weights are useless
        _save_best(run, best)
        raise
    _save(run, trainer, best)
    return heartbeat.update("done" if trainer.finished else "stopped", trainer.step)


def _stops(run: Run, stops: Callable[[], bool], asks: bool, moment: Moment | None) -> bool:
    """Whether to stop after this step; asks: whether to look for a request in the folder."""
    if distributed.world_size() == 1:
        return stops() or (asks and run.stop_requested())
    # Several processes agree at moments only, so that all stop at the same step.
    return moment is not None and distributed.broadcast_decision(stops() or run.stop_requested())


def _train_beside(run: Run) -> Status:
    """Train in a process of rank 1, 2, …: take the same steps, write nothing."""
    if not distributed.broadcast_decision(False):
        return Status("stopped")
    trainer = _make_trainer(run)
    for moment in trainer.run():
        if moment is not None and distributed.broadcast_decision(False):
            break
    return Status("done" if trainer.finished else "stopped", trainer.step)


def _make_trainer(run: Run) -> Trainer:
    """The run's trainer, at its saved state."""
    return Trainer(run.config, _read_state(run) if run.state_path.exists() else None)


def _record(run: Run, trainer: Trainer, moment: Moment) -> None:
    """Record one moment: the probe trace first, so that every line of the metrics has one."""
    model = ExplorableModel(trainer.checkpoint({}), run.name)
    text, answer = trainer.data_module.probe()
    probe = model.trace(text, target=answer)
    run.write(run.probe_path(moment.step), probe.to_bytes())
    run.append(moment.line() | {"greedy": model.trace(text).text})


def _save(run: Run, trainer: Trainer, best: bytes | None) -> None:
    """Save the model, for inspection, and the trainer's state, for resuming.

    best: the checkpoint with the lowest held-out loss, saved too if there is a new one.
    """
    _save_best(run, best)
    run.write(run.checkpoint_path, _serialised(trainer))
    run.write(run.state_path, save_tensors(trainer.state()))


def _save_best(run: Run, best: bytes | None) -> None:
    if best is not None:
        run.write(run.best_path, best)


def _serialised(trainer: Trainer) -> bytes:
    """The model as it is now as a checkpoint, with its score in the facts."""
    measured = trainer.moment.measured if trainer.moment else {}
    facts: dict[str, Any] = {
        name: measured[name] for name in ("exact_match", "bleu", "perplexity") if name in measured
    }
    return to_bytes(trainer.checkpoint(facts))


def _read_state(run: Run) -> dict[str, torch.Tensor]:
    try:
        return dict(load_tensors(read_bytes(run.state_path)))
    except (ExplorerError, SafetensorError, ValueError) as error:
        raise RunError("damaged_run", name=run.name, file=run.state_path.name) from error
