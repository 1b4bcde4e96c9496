"""Train: start a training and watch its heads form, or scrub through a recorded one."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import training_replay_mount
from explorer.app.permalink import Place, Request, to_query
from explorer.app.state import explore as explore_state
from explorer.app.state import train as train_state
from explorer.app.uploads import keep_upload, uploads
from explorer.app.widgets import run_controls
from explorer.app.widgets.messages import complain
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.model import catalog
from explorer.model.catalog import CatalogMember, CatalogModel, Upload
from explorer.training import run_launcher
from explorer.training.run_directory import Run

_EXPLORE = Path(__file__).with_name("explore.py")
_BEAT = 1.0  # seconds between two looks at a run that goes on


def page() -> None:
    """The whole page; while a run goes on, only the time-lapse is brought up to date."""
    explore_state.enter("train")
    explore_state.leave_address()
    language = explore_state.language()
    runs = train_state.shelf()
    key = train_state.watched(runs)
    run = runs[key] if key else None
    recorded = key is not None and key.startswith("recorded/")
    with st.container(key="row", horizontal=True, vertical_alignment="center", gap="small"):
        run_controls.begin(run, recorded, language)
    notice = st.container(key="notice")
    if (problem := train_state.problem()) is not None:
        complain(problem, language, notice)
    if key is None or run is None:
        st.info(say("train.no_runs", language))
        return
    with st.container(key="run-row", horizontal=True, vertical_alignment="center", gap="small"):
        other = run_controls.choose(runs, key, language)
        opened = run_controls.finish(run, key, recorded, language)
    seen = train_state.signature(run)
    look = st.fragment(_look, run_every=_BEAT if run_launcher.is_active(run) else None)
    look(key, run, other, language, seen)
    if opened:
        _open_in_explore(run, recorded, language, notice)


def _look(key: str, run: Run, other: Run | None, language: str, seen: tuple[object, ...]) -> None:
    """The time-lapse as the run stands now; when it starts or ends, the buttons follow."""
    training_replay_mount.mount(key, run, other, language)
    if train_state.signature(run) != seen:
        st.rerun()


def _open_in_explore(run: Run, recorded: bool, language: str, notice: DeltaGenerator) -> None:
    """Put the run's model on the visitor's shelf and go there."""
    shipped = catalog.shipped_models()
    shelf = {**shipped, **uploads()}
    try:
        name = _shipped_name(run, shelf) if recorded else keep_upload(_entry(run), shelf)
    except ExplorerError as error:
        complain(error, language, notice)
        return
    entry = {**shelf, **uploads()}.get(name)
    if isinstance(entry, CatalogModel):
        query = to_query(Place(Request(name, entry.examples[0])))
        st.switch_page(_EXPLORE, query_params=query)


def _shipped_name(run: Run, shelf: Mapping[str, CatalogMember]) -> str:
    """The model that ships for a recorded run: of the same name, else of the same task."""
    return run.name if run.name in shelf else run.config.task


def _entry(run: Run) -> Upload:
    """The run's model as it was last kept. Raises `CheckpointError`."""
    try:
        data = run.checkpoint_path.read_bytes()
    except OSError:
        data = b""
    from explorer.model.uploaded_file import read_upload

    return read_upload(f"{run.name}.safetensors", data)


if __name__ == "__main__":
    page()
