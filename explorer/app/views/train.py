"""Train: start a training and watch its heads form, or replay a recorded one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import mount
from explorer.app.last_probe import look_ahead_head, probe_request
from explorer.app.server import access
from explorer.app.state import address_bar, visitor
from explorer.app.state import lesson as lesson_state
from explorer.app.state import train as train_state
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import run_model
from explorer.app.widgets import run_controls
from explorer.app.widgets.class_curves import class_curves
from explorer.app.widgets.messages import (
    literal,
    message_area,
    show_error,
    show_refused,
    show_reported,
)
from explorer.app.widgets.training_card import training_card
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import Look, Selection
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run
from explorer.model.catalog import CatalogModel, shipped_models

_EXPLORE = Path(__file__).with_name("explore.py")
_REFRESH = 1.0  # seconds between two looks at a running training
_CURVES = 2.0  # seconds between two looks at the curves that a class shares
_LOOK = 4.0  # seconds between two looks for trainings that somebody else started or that ended


def page() -> None:
    """The whole page; while a training runs, the fragment with the replay alone is redrawn."""
    address_bar.enter("train")
    address_bar.leave_visit()
    language = visitor.language()
    root = training_launcher.run_root("runs")
    train_state.run_states.clear()
    st.fragment(_notice, run_every=_LOOK)(root, train_state.run_states(root))
    runs = train_state.list_all_runs()
    found = lesson_state.look_up()
    refused_lesson = _follow_lesson()
    linked = address_bar.linked_replay()  # before the URL is written
    gone = train_state.missing_run(runs)
    key = train_state.shown_run(runs)
    run = runs[key] if key else None
    recorded = train_state.is_recorded(key)
    with st.container(key="input-row", horizontal=True, vertical_alignment="center", gap="small"):
        run_controls.start_row(run, recorded, language)
    training_card(found, key or "", language)
    messages = message_area()
    if access.is_class_mode():
        mount.class_bar(language)
        st.fragment(class_curves, run_every=_CURVES)(language)
    show_reported(language, messages)
    if gone and key:
        shown = key.split("/", 1)[-1]
        messages.warning(literal(say("train.run_gone", language, name=gone, shown=shown)))
    if key is None or run is None:
        st.info(say("train.no_runs", language))
        return
    refused = *train_state.refused(linked, runs, key), *refused_lesson
    if refused := (*refused, *address_bar.refused_language()):
        show_refused(refused, language, messages)
    with st.container(key="run-row", horizontal=True, vertical_alignment="center", gap="small"):
        others = run_controls.choose_runs(runs, key, language)
        opened = run_controls.open_and_delete(run, recorded, language)
    buttons = train_state.button_state(run)
    replay = st.fragment(_replay, run_every=_REFRESH if run.active else None)
    replay(key, run, others, language, buttons)
    if opened:
        _open_in_explore(run, recorded, language, messages)


def _follow_lesson() -> tuple[str, ...]:
    """Follow the lesson in the URL, one of Explore on that page. Returns what was refused."""
    refused = address_bar.follow_in_train()
    if address_bar.names_lesson() and not lesson_state.is_in_train():
        address_bar.open_query(_EXPLORE, lesson_state.query())
    return refused


def _notice(root: Path, drawn: Mapping[str, str]) -> None:
    """Draw the page again when a run was started, ended or deleted in another tab or elsewhere."""
    if train_state.run_states(root) != drawn:
        st.rerun()


def _replay(
    key: str, run: Run, others: Sequence[Run], language: str, buttons: tuple[object, ...]
) -> None:
    """Draw the run in its present state. When it starts or ends, redraw the buttons, too."""
    leak = None if train_state.is_recorded(key) else _leak(run)
    link = address_bar.relative_link(leak) if leak else ""
    recorded = train_state.is_recorded(key)
    opens = run_controls.opens(run, recorded)
    followed, cell = mount.replay(key, run, others, language, link, opens)
    if followed and leak:
        address_bar.open_page(_EXPLORE, leak)
    if isinstance(cell, dict) and opens:
        _open_in_explore(run, recorded, language, None, cell)
    if train_state.button_state(run) != buttons:
        st.rerun()


def _open_in_explore(
    run: Run,
    recorded: bool,
    language: str,
    messages: DeltaGenerator | None,
    cell: Mapping[str, object] | None = None,
) -> None:
    """Go to Explore with the run's model; what was trained on sentences is shown in words.

    cell: the browser's report of a probe cell, whose calculation is then shown.
    """
    try:
        model = _shipped_model(run) if recorded else run_model(run)
    except ExplorerError as error:
        show_error(error, language, messages)
        return
    if model is not None:
        request = visit_state.initial_request(model)
        words = Selection(words=True if run.config.of_sentences and not recorded else None)
        visit = Look(request, words) if cell is None else visit_state.visit_of_cell(request, cell)
        address_bar.open_page(_EXPLORE, visit)


def _leak(run: Run) -> Look | None:
    """Visit of Explore that shows a missing causal mask: the first row of the decoder head that
    looks at the token to predict. The right answer is fed in, since such a model writes little by
    itself. None for a run with a causal mask or without a model."""
    if run.config.causal:
        return None
    try:
        model = run_model(run)
    except ExplorerError:
        return None
    head = look_ahead_head(run)
    layer, number = head if head else (None, None)
    selection = Selection("decoder", layer, number, 1)
    request = probe_request(run, model.name) or visit_state.initial_request(model)
    return Look(request, selection)


def _shipped_model(run: Run) -> CatalogModel | None:
    """Shipped model for a recorded run: the model with the name of the run, else that of its
    task."""
    offered = shipped_models()
    return offered.get(run.name, offered.get(run.config.task))


if __name__ == "__main__":
    page()
