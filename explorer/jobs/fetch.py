"""A fetch: the job that brings a known model from the hub into the cache of the hub.

Its folder is among those of the measurements, which are deleted a day after their end, but it waits
for none of them. A fetch that is cancelled leaves the files it has finished; the next one fetches
the others.

    python -m explorer.jobs.fetch MODEL FOLDER    carries one out
"""

import os
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from explorer.core import folders
from explorer.core.errors import ExplorerError, ModelDirectoryError
from explorer.core.files import writing
from explorer.core.vocabulary import shorten
from explorer.jobs.folder import JobFolder
from explorer.jobs.heartbeat import Heartbeat, carried_out, end_process
from explorer.jobs.log import last_message
from explorer.jobs.process import launch
from explorer.model.huggingface.opening import hub
from explorer.model.known_models import KNOWN_MODELS, KnownModel

_ENVIRONMENT = {
    "HF_HUB_DISABLE_XET": "1",  # else the size of an unfinished file does not say how much came
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
}
_beginning = threading.Lock()


@dataclass(frozen=True)
class Fetch(JobFolder):
    """A fetch of a model that runs or has ended."""

    model: KnownModel

    @classmethod
    def of(cls, model: KnownModel) -> Self:
        """The fetch of a model; it need not exist."""
        name = f"fetch-{model.name.replace('/', '--')}"
        return cls(folders.reports() / ".jobs" / name, model)

    @property
    def share(self) -> float | None:
        """The share done, 0 to 1; None unless it runs."""
        return self.model.share if self.active else None

    @property
    def failure(self) -> ExplorerError | None:
        """Why the model was not fetched, with the command that does; None if it did not fail."""
        status = self.status()
        if status.state not in ("failed", "interrupted"):
            return None
        known = status.failure
        facts = known.facts if known else {}
        reason = facts.get("reason") or known or last_message(self.log_path) or status.state
        reason = shorten(str(reason).partition(". ")[0])  # the library explains at length
        command = f'python -m explorer trace {self.model.name} "The cat" --download'
        facts = {"name": self.model.title, "reason": reason, "command": command}
        return ModelDirectoryError("fetch_failed", **facts)

    def cancel(self) -> None:
        """Request its end."""
        if self.active:
            self.request_stop()


def begin(model: KnownModel) -> None:
    """Start the fetch of a model, unless it runs. Raises `ModelDirectoryError` without the library,
    `FileError` when nothing can be written."""
    if not hub.has_library():
        raise ModelDirectoryError("fetch_not_installed", name=model.title, command=hub.EXTRA)
    job = Fetch.of(model)
    with _beginning:
        if job.active:
            return
        with writing(job.folder):
            job.create({"name": model.name})
        command = [sys.executable, "-m", __name__, model.name, str(job.folder)]
        launch(job, command, {**os.environ, **_ENVIRONMENT})


def carry_out(job: Fetch) -> None:
    """Fetch the model. Runs in the process of the job, which a stop request ends."""

    def watch(heartbeat: Heartbeat) -> None:
        if job.stop_requested() or job.is_deleted:
            end_process(heartbeat, partial(hub.delete_unfinished, job.model.name))

    with carried_out(job, watch) as heartbeat:
        heartbeat.update("running", 0)
        hub.download(job.model.name)
        heartbeat.update("done", 0)


if __name__ == "__main__":
    carry_out(Fetch(Path(sys.argv[2]), KNOWN_MODELS[sys.argv[1]]))
