"""The probe of a run's last moment: the request for it, and the head that looks ahead on it."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from explorer.core.address_fields import MOST_FORCED
from explorer.core.errors import ExplorerError
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.jobs.training_run import Run


def probe_request(run: Run, model: str) -> Request | None:
    """Request for the probe of the run's last moment, with its right answer forced; `model` is the
    name of the run's model in the catalog. None without a probe."""
    moments = run.moments()
    try:
        facts = run.probe(moments[-1]["step"]).facts if moments else {}
    except ExplorerError:
        return None
    if not {"text", "forced"} <= facts.keys():
        return None
    forced = sorted((int(step), int(token)) for step, token in facts["forced"].items())
    return Request(model, str(facts["text"]), forced=tuple(forced[:MOST_FORCED]))


def look_ahead_head(run: Run) -> tuple[int, int] | None:
    """Layer and number of the decoder head that looks most at the next position, on the probe of
    the run's last moment. None without a probe."""
    moments = run.moments()
    if not moments:
        return None
    path = run.probe_path(moments[-1]["step"])
    try:
        return _look_ahead_head(path, path.stat().st_mtime_ns)
    except (ExplorerError, OSError):
        return None


@lru_cache(maxsize=64)
def _look_ahead_head(path: Path, changed: int) -> tuple[int, int] | None:
    trace = Trace.load(path)
    if "decoder" not in trace.sites:
        return None
    ahead = np.diagonal(trace.attention("decoder"), offset=1, axis1=2, axis2=3)
    if ahead.shape[-1] == 0:
        return None
    weights = ahead.mean(axis=-1)  # (layer, head)
    layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(layer), int(head)
