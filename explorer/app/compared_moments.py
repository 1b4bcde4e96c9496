"""Comparison of two moments of a run, from the stored probe traces."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from explorer.app import experiment_cache, model_cache
from explorer.app.state import train as train_state
from explorer.components.training_replay.own_choices import with_own_choices
from explorer.components.training_replay.payload import thinned
from explorer.core.errors import ExplorerError, RunError
from explorer.core.look import COMPARE, MomentPair
from explorer.core.trace import Trace
from explorer.heads.comparison.attention_comparison import compare
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run

_EARLY = 5
"""The first moment of the initial pair is at 1/`_EARLY` of the run's moments."""


class ComparedMomentError(ExplorerError):
    """Moments of a run that cannot be compared."""

    section = "heads"


def runs() -> dict[str, Run]:
    """The runs that have moments, by "root/name", in the order of the Train page."""
    listed = train_state.list_all_runs().items()
    return {key: run for key, run in listed if run.metrics_path.is_file()}


def run_of(pair: MomentPair) -> Run:
    """The run of a pair. Raises `ComparedMomentError` if there is none."""
    root, name = pair.run.split("/", 1)
    try:
        return training_launcher.find(root, name)
    except RunError as error:
        raise ComparedMomentError("no_training", name=name) from error


def steps_of(run: Run) -> list[int]:
    """Steps of the moments with a probe trace. A long run is thinned as in its replay."""
    moments = thinned(run.moments())
    return [int(one["step"]) for one in moments if run.probe_path(int(one["step"])).is_file()]


def initial_pair(key: str, steps: Sequence[int]) -> MomentPair:
    """An early moment and the last one of a run called `key`.

    Raises `ComparedMomentError` if it has fewer than two.
    """
    if len(steps) < 2:
        raise ComparedMomentError("few_moments", name=key.split("/", 1)[-1])
    return MomentPair(key, steps[len(steps) // _EARLY], steps[-1])


def query(key: str, steps: Sequence[int]) -> dict[str, str]:
    """The query of the Heads page that opens the pair of `initial_pair`."""
    return {"part": COMPARE, "with": str(initial_pair(key, steps))}


def comparison(pair: MomentPair) -> TraceComparison:
    """The probe at both moments, each row with the model's own prediction there.

    Raises `ExplorerError` if a moment is missing or damaged, and if a run of this name was started
    again with another probe.
    """
    run = run_of(pair)
    key = ("moments", stamp(pair))
    return model_cache.kept(key, lambda: _comparison(run, pair), experiment_cache.bytes_of)


def stamp(pair: MomentPair) -> str:
    """Stamp that changes whenever a stored trace of the two moments does. Raises as `run_of`
    does."""
    run, found = run_of(pair), [str(pair)]
    for step in (pair.first, pair.second):
        with suppress(OSError):  # a missing one is refused when it is read
            status = run.probe_path(step).stat()
            found.append(f"{status.st_mtime_ns}:{status.st_size}")
    return " ".join(found)


def scores(run: Run, step: int) -> Mapping[str, float]:
    """Scores at a moment, as far as they were measured: exact match, BLEU."""
    lines = (line for line in run.moments() if line["step"] == step)
    line = next(lines, {})
    return {name: line[name] for name in ("exact_match", "bleu") if name in line}


def _comparison(run: Run, pair: MomentPair) -> TraceComparison:
    one, other = (_probe(run, step) for step in (pair.first, pair.second))
    compare(one, other)  # which refuses other tokens
    return TraceComparison(one, other, other)


def _probe(run: Run, step: int) -> Trace:
    if not run.probe_path(step).is_file():
        raise ComparedMomentError("no_moment", step=step, name=run.name)
    return with_own_choices(run.probe(step))
