"""What one visitor's session remembers on the Train page, as `session` does for Explore.

The run that is watched stands in the address, so that a reload and a link find it again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explorer.core.errors import ExplorerError, PairsError
from explorer.data.parallel_corpus import RowCounts
from explorer.training import run_launcher
from explorer.training.run_directory import Run, list_runs

RECORDED = "recorded/reverse"
"""The run the page opens on while nothing is going on."""

PART = "run"
"""The part of the address that names the run."""

# Keys of widgets.
TASK = "train-task"
RUN = "train-run"
OTHER = "train-other"

PAIRS_FORM = "pairs"
SETTINGS_FORM = "setting"
"""The forms that open over the page; the keys of their widgets begin so."""

_COMPARED = "train-compared"
_PROBLEM = "train-problem"
_DRAFT = "train-draft"
_FORM = "train-form"
_DRAFT_NUMBER = "train-draft-number"
_BROUGHT = "train-brought"
_TIMES = "train-times-brought"
_COLUMNS = "train-columns"
_HEADINGS = "train-headings"
_SURVEYS = "train-surveys"
_MOST_SURVEYS = 8


@dataclass(frozen=True, slots=True)
class Brought:
    """A file of pairs as a visitor brought it."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Survey:
    """counts: what becomes of the rows of a file of pairs, None with a `problem`."""

    counts: RowCounts | None
    problem: PairsError | None


def shelf() -> dict[str, Run]:
    """Every run by "shelf/name": those made here, the newest first, then the recorded."""
    found = {}
    for name in run_launcher.RUN_ROOTS:
        for run in list_runs(run_launcher.run_root(name)):
            found[f"{name}/{run.name}"] = run
    return found


def key_of(run: Run) -> str:
    """The key under which `shelf` has a run made here."""
    return f"runs/{run.name}"


def watched(runs: Mapping[str, Run]) -> str | None:
    """The run this visitor watches: the one in the address, else one that goes on, else the
    recorded one; None when there is no run at all."""
    asked = st.query_params.get(PART)
    if asked in runs:
        return str(asked)
    for key, run in runs.items():
        if key.startswith("runs/") and run_launcher.is_active(run):
            st.query_params[PART] = key  # it stays on screen when it ends
            return key
    return RECORDED if RECORDED in runs else next(iter(runs), None)


def watch(key: str) -> None:
    """Watch another run from now on."""
    st.query_params[PART] = key
    st.session_state[_COMPARED] = None


def leave() -> None:
    """Watch whatever the page opens on."""
    st.query_params.pop(PART, None)
    st.session_state[_COMPARED] = None


def pick_run() -> None:
    """Follow the select of runs."""
    watch(st.session_state[RUN])


def compared(runs: Mapping[str, Run]) -> str | None:
    """The run whose curves are laid beneath; None without one."""
    key = st.session_state.get(_COMPARED)
    return key if key in runs else None


def pick_other() -> None:
    """Follow the select of the run to compare with."""
    st.session_state[_COMPARED] = st.session_state[OTHER]


def note_problem(problem: ExplorerError | None) -> None:
    """Remember why the last wish could not be fulfilled, until the next one."""
    st.session_state[_PROBLEM] = problem


def problem() -> ExplorerError | None:
    """Why the last wish could not be fulfilled; told once."""
    found: ExplorerError | None = st.session_state.pop(_PROBLEM, None)
    return found


def signature(run: Run) -> tuple[object, ...]:
    """What the buttons depend on: when it changes, the whole page is due."""
    status = run.status()
    return status.state, run_launcher.is_starting(status), run.checkpoint_path.exists()


def open_form(form: str) -> None:
    """Show one of the forms until it is closed, whatever else happens on the page."""
    st.session_state[_FORM] = form


def close_form() -> None:
    st.session_state[_FORM] = None


def form_on_screen() -> str | None:
    """The form that is open."""
    form: str | None = st.session_state.get(_FORM)
    return form


def draft(form: str) -> dict[str, Any]:
    """The settings as they stand in a form, kept while it is closed."""
    found: dict[str, Any] = st.session_state.setdefault(f"{_DRAFT}-{form}", {})
    return found


def draft_number() -> int:
    """How often a form was emptied; part of its widgets' keys, so that they are new then."""
    return int(st.session_state.get(_DRAFT_NUMBER, 0))


def forget_draft(form: str) -> None:
    """Empty a form."""
    st.session_state[_DRAFT_NUMBER] = draft_number() + 1
    st.session_state[f"{_DRAFT}-{form}"] = {}


def bring(brought: Brought) -> None:
    """Keep a file of pairs in place of the last one; its columns are chosen anew."""
    st.session_state[_BROUGHT] = brought
    st.session_state[_TIMES] = times_brought() + 1
    st.session_state[_SURVEYS] = {}
    choose_columns((0, 1), False)


def brought() -> Brought | None:
    """The file of pairs this visitor brought last; kept, so that nothing is lost when a
    training on it is refused or another one is wanted."""
    found: Brought | None = st.session_state.get(_BROUGHT)
    return found


def survey(columns: tuple[str, str]) -> Survey | None:
    """What was found in the file of pairs with such columns; None when nobody looked."""
    surveys: dict[tuple[str, str], Survey] = st.session_state[_SURVEYS]
    return surveys.get(columns)


def keep_survey(columns: tuple[str, str], found: Survey) -> None:
    """Remember what was found; of many choices of columns the first is forgotten."""
    surveys: dict[tuple[str, str], Survey] = st.session_state[_SURVEYS]
    surveys[columns] = found
    if len(surveys) > _MOST_SURVEYS:
        del surveys[next(iter(surveys))]


def times_brought() -> int:
    """How many files were brought; part of the keys of what is chosen in one."""
    return int(st.session_state.get(_TIMES, 0))


def choose_columns(places: tuple[int, int], headings: bool) -> None:
    """Note where source and translation stand, and whether the first row only names them."""
    st.session_state[_COLUMNS], st.session_state[_HEADINGS] = places, headings


def columns() -> tuple[int, int]:
    """Where source and translation stand in the file of pairs, counted from 0."""
    found: tuple[int, int] = st.session_state[_COLUMNS]
    return found


def has_headings() -> bool:
    """Whether the first row of the file of pairs only names the columns."""
    return bool(st.session_state[_HEADINGS])
