"""The files of a training in the folder of its run, and their readers.

config.json             the settings, and when the run was created
metrics.jsonl           one line a moment, see `run_metrics`
moments/000310.trace    the probe trace at that moment, teacher-forced
lesson.json             facts of the training data: for a file of pairs, its row counts
pairs.tsv               the file of pairs, if it was uploaded
checkpoint.safetensors  the model as last saved
best.safetensors        the model with the lowest held-out loss so far
state.safetensors       the trainer's saved state, for resuming
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from explorer.core import json_values
from explorer.core.errors import ExplorerError, FileError, RunError
from explorer.core.trace import Trace
from explorer.training import run_metrics
from explorer.training.config import TrainingConfig

PAIRS_FILE = "pairs.tsv"
"""The name of an uploaded file of pairs in the folder of its run."""


@dataclass(frozen=True)
class RunFiles:
    """The files of a run, given by its folder."""

    folder: Path

    @cached_property
    def config(self) -> TrainingConfig:
        """The settings, with the current path of a file of pairs that was uploaded into the folder.

        Raises `RunError` when they cannot be read.
        """
        path = self.folder / "config.json"
        try:
            config = TrainingConfig.from_json(json_values.read_object(path)["settings"])
            own = self.folder / config.pairs
            return replace(config, pairs=str(own)) if config.pairs and own.is_file() else config
        except (FileError, TypeError, ValueError, KeyError, AttributeError, OSError) as error:
            raise RunError("damaged_run", name=self.folder.name, file=path.name) from error

    def moments(self) -> list[dict[str, Any]]:
        """The readable lines of the metrics, in the order of their steps, each step once."""
        return run_metrics.read(self.metrics_path)

    @property
    def metrics_path(self) -> Path:
        return self.folder / "metrics.jsonl"

    def data_facts(self) -> dict[str, Any]:
        """Facts of the training data; empty until the data are prepared."""
        try:
            return json_values.read_object(self.folder / "lesson.json")
        except (ExplorerError, ValueError):
            return {}

    def probe(self, step: int) -> Trace:
        """The probe trace at a moment. Raises `FileError` or `TraceError` if missing or damaged."""
        return Trace.load(self.probe_path(step))

    def probe_path(self, step: int) -> Path:
        return self.folder / "moments" / f"{step:06}.trace"

    @property
    def checkpoint_path(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    @property
    def best_path(self) -> Path:
        return self.folder / "best.safetensors"

    @property
    def state_path(self) -> Path:
        return self.folder / "state.safetensors"

    @property
    def saved_step(self) -> int:
        """The step from which the run resumes. Raises `RunError` when its state is damaged."""
        if not self.state_path.exists():
            return 0
        try:
            if not self.state_path.is_file():  # opening a FIFO would block
                raise OSError(22, "it is no regular file")
            with safe_open(self.state_path, "np") as state:
                return int(state.get_tensor("step"))
        except (OSError, SafetensorError, ValueError, TypeError) as error:
            file = self.state_path.name
            raise RunError("damaged_run", name=self.folder.name, file=file) from error
