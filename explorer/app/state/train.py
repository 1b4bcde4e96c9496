"""State of the Train page: the run on screen, the compared runs, and the forms.

The runs are named in the URL, so that a reload and a link find them again.
"""

import math
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import streamlit as st

from explorer.app.state import address_bar, session
from explorer.components.training_replay.run_numbers import MOST_RUNS
from explorer.core.errors import PairsError
from explorer.data.column_guess import first_rows, looks_headed, text_columns
from explorer.data.parallel_corpus import RowCounts
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run, list_runs
from explorer.training.cost_estimate import PairsSize

RECORDED = "recorded/reverse"
"""The initial run of the page while no training runs."""

CORPUS_FORM = "pairs"
SETTINGS_FORM = "setting"
"""The forms that open over the page; the keys of their widgets begin with these names."""

_MOMENT = re.compile(r"[0-9]{1,9}", re.ASCII)
_HEAD = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})", re.ASCII)

_LOOKED_AT = 3.0  # seconds for which the states of runs are cached
_LONGEST_NAME = 60  # characters of a link that are repeated in a message
_MOST_CHECKS = 8
_DOUBLE_CLICK = 1.0  # seconds within which two clicks are one
_LARGEST_SEED = 9999  # short enough to read it out


@dataclass(frozen=True, slots=True)
class UploadedCorpus:
    """A file of sentence pairs that a visitor uploaded."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CorpusCheck:
    """counts: of the rows of a corpus, the number used; None with an `error`.
    size: of its pairs, for estimating the time of a training.
    """

    counts: RowCounts | None
    size: PairsSize | None
    error: PairsError | None


@dataclass(frozen=True, slots=True)
class TrainState:
    """seed: of the next quick demo; None before the first look at it.
    form: the form that is open.
    drafts: by form, its current settings, kept while it is closed.
    times_reset: number of resets of a form; part of its widgets' keys, which are then new.
    uploads: number of corpora uploaded; part of the keys of the choice of columns.
    columns: indices of source and translation in the corpus, from 0.
    has_headings: whether the first row of the corpus names the columns.
    checks: by choice of columns, the check of the corpus.
    started: start time of the last quick demo, by the monotonic clock.
    """

    seed: int | None = None
    form: str | None = None
    drafts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    times_reset: int = 0
    corpus: UploadedCorpus | None = None
    uploads: int = 0
    columns: tuple[int, int] = (0, 1)
    has_headings: bool = False
    checks: Mapping[tuple[str, str], CorpusCheck] = field(default_factory=dict)
    started: float = -math.inf


def list_all_runs() -> dict[str, Run]:
    """Every run by "root/name": those made here, the newest first, then the recorded ones."""
    found = {}
    for root in training_launcher.RUN_ROOTS:
        for run in list_runs(training_launcher.run_root(root)):
            found[f"{root}/{run.name}"] = run
    return found


@st.cache_data(ttl=_LOOKED_AT, max_entries=4, show_spinner=False)
def run_states(root: Path) -> dict[str, str]:
    """The state of each run in the folder of the runs made here, by name.

    The cached states serve all visitors, who ask again and again. Call `run_states.clear()` first
    if the states have to be new.
    """
    return {run.name: run.status().state for run in list_runs(root)}


def is_recorded(key: str | None) -> bool:
    """Whether this is the key of a run that ships with the app."""
    return key is not None and key.startswith("recorded/")


def shown_run(runs: Mapping[str, Run]) -> str | None:
    """Key of the run on screen: the run in the URL, else a running one, else a recorded one. None
    without any run."""
    linked = address_bar.linked_run()
    if linked in runs:
        return linked
    for key, run in runs.items():
        if key.startswith("runs/") and run.active:
            address_bar.write_run(key)  # it stays on screen when it ends
            return key
    return RECORDED if RECORDED in runs else next(iter(runs), None)


def missing_run(runs: Mapping[str, Run]) -> str | None:
    """The name of the run in the URL if that run no longer exists, shortened. None otherwise."""
    linked = address_bar.linked_run()
    if not linked or linked in runs:
        return None
    return linked.split("/", 1)[-1][:_LONGEST_NAME]


def refused(linked: Mapping[str, str], runs: Mapping[str, Run], shown: str) -> tuple[str, ...]:
    """Parameters of a URL that the page with the run `shown` does not follow. A missing run is
    reported apart, see `missing_run`.

    linked: see `address_bar.linked_replay`.
    """
    config, of_shown = runs[shown].config, linked.get("run") == shown
    others = linked.get("compare", "").split(",") if linked.get("compare") else []
    head = _HEAD.fullmatch(linked.get("head", ""))
    followed = {
        "compare": len(others) < MOST_RUNS and all(key in runs and key != shown for key in others),
        "moment": of_shown and _MOMENT.fullmatch(linked.get("moment", "")) is not None,
        "head": of_shown
        and head is not None
        and int(head[1]) < config.decoder_layers
        and int(head[2]) < config.heads,
    }
    return tuple(name for name, kept in followed.items() if name in linked and not kept)


def show_run(key: str | None) -> None:
    """Show another run, compared with none; None = the initial run of the page."""
    address_bar.write_run(key)


def compared(runs: Mapping[str, Run], shown: str) -> list[str]:
    """The keys of the runs whose curves are drawn beside those of the run `shown`."""
    linked = dict.fromkeys(address_bar.linked_comparison())
    return [key for key in linked if key in runs and key != shown][: MOST_RUNS - 1]


def compare_with(keys: Sequence[str]) -> None:
    """Draw the curves of these runs beside those of the run on screen."""
    address_bar.write_comparison(keys)


def demo_seed() -> int:
    """The seed of the next quick demo: another one after each start."""
    seed = session.load(TrainState).seed
    return renew_demo_seed() if seed is None else seed


def renew_demo_seed() -> int:
    """Choose a new seed for the next quick demo."""
    seed = random.randint(1, _LARGEST_SEED)
    session.save(replace(session.load(TrainState), seed=seed))
    return seed


def takes_start() -> bool:
    """Whether a click starts another quick demo. The second click of a double click does not."""
    state, now = session.load(TrainState), time.monotonic()
    session.save(replace(state, started=now))
    return now - state.started > _DOUBLE_CLICK


def button_state(run: Run) -> tuple[object, ...]:
    """The values the buttons depend on. When they change, the whole page is drawn again."""
    status = run.status()
    return status.state, status.is_starting, run.checkpoint_path.exists()


def open_form(form: str | None) -> None:
    """Show a form until it is closed, also across other actions on the page. None closes it."""
    session.save(replace(session.load(TrainState), form=form))


def close_form() -> None:
    """Show no form."""
    open_form(None)


def form_on_screen() -> str | None:
    """The form that is open."""
    return session.load(TrainState).form


def draft(form: str) -> Mapping[str, Any]:
    """The settings that were changed in a form."""
    return session.load(TrainState).drafts.get(form, {})


def save_draft(form: str, settings: Mapping[str, Any]) -> None:
    """Keep the settings of a form while it is closed."""
    state = session.load(TrainState)
    session.save(replace(state, drafts={**state.drafts, form: settings}))


def reset_draft(form: str) -> None:
    """Set a form back to the suggested settings."""
    save_draft(form, {})
    state = session.load(TrainState)
    session.save(replace(state, times_reset=state.times_reset + 1))


def times_reset() -> int:
    """Number of times a form was reset."""
    return session.load(TrainState).times_reset


def set_corpus(corpus: UploadedCorpus) -> None:
    """Replace the corpus by this one; its columns are guessed again.

    It stays in the session, so that it is still there when a training on it is refused.
    """
    state = session.load(TrainState)
    state = replace(state, corpus=corpus, uploads=state.uploads + 1, checks={})
    rows = first_rows(corpus.data, corpus.name)
    try:
        columns = text_columns(rows, corpus.name)
    except PairsError:  # the page says what is odd about these
        columns = (0, 1)
    headed = looks_headed(rows, columns)
    session.save(replace(state, columns=columns, has_headings=headed))


def corpus() -> UploadedCorpus | None:
    """The corpus uploaded last."""
    return session.load(TrainState).corpus


def uploads() -> int:
    """Number of corpora uploaded."""
    return session.load(TrainState).uploads


def check(columns: tuple[str, str]) -> CorpusCheck | None:
    """The check of the corpus with such columns, or None before `save_check`."""
    return session.load(TrainState).checks.get(columns)


def save_check(columns: tuple[str, str], found: CorpusCheck) -> None:
    """Keep a check. Beyond `_MOST_CHECKS` choices of columns the oldest is dropped."""
    state = session.load(TrainState)
    checks = dict(list({**state.checks, columns: found}.items())[-_MOST_CHECKS:])
    session.save(replace(state, checks=checks))


def choose_columns(columns: tuple[int, int], has_headings: bool) -> None:
    """Note the columns of source and translation, and whether the first row names them."""
    state = session.load(TrainState)
    session.save(replace(state, columns=columns, has_headings=has_headings))


def columns() -> tuple[int, int]:
    """Indices of source and translation in the corpus, from 0."""
    return session.load(TrainState).columns


def has_headings() -> bool:
    """Whether the first row of the corpus names the columns."""
    return session.load(TrainState).has_headings
