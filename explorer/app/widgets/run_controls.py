"""The controls of the Train page: start a training, and control the run on screen."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from explorer.app import comparisons
from explorer.app.state import address_bar, session
from explorer.app.state import train as train_state
from explorer.app.state.train import UploadedCorpus
from explorer.app.widgets import messages
from explorer.app.widgets.corpus_form import corpus_form
from explorer.app.widgets.messages import literal
from explorer.app.widgets.training_form import available_devices, settings_form
from explorer.components.labels import estimate_text
from explorer.components.training_replay.run_numbers import MOST_RUNS
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.data.task_names import TASK_NAMES, task_label
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run, finished_runs
from explorer.training.config import TrainingConfig, quick_demo
from explorer.training.cost_estimate import estimate

_NO_MASK = "no_mask"
"""The quick demo without the causal mask; no toy task has this name."""

_HEADS = Path(__file__).parents[1] / "views" / "heads.py"


def start_row(run: Run | None, recorded: bool, language: str) -> None:
    """The first row: the quick demo, Start, Stop, Resume, the forms, and the estimate."""
    demo = _demo(language)
    _button("start", language, partial(_start_demo, demo), icon="play_arrow", primary=True)
    _stop_and_resume(run, recorded, language)
    st.button(
        say("train.settings", language),
        key="settings",
        icon=":material/tune:",
        on_click=partial(train_state.open_form, train_state.SETTINGS_FORM),
    )
    st.button(
        say("train.pairs", language),
        key="pairs",
        icon=":material/upload_file:",
        help=say("train.pairs_help", language),
        on_click=partial(train_state.open_form, train_state.CORPUS_FORM),
    )
    if train_state.form_on_screen() == train_state.SETTINGS_FORM:
        _open_settings_form(demo, language)
    if train_state.form_on_screen() == train_state.CORPUS_FORM:
        _open_corpus_form(language)
    about = [say(f"train.{one}_help", language) for one in ("quick", "start", "estimate")]
    st.caption(_facts(demo, language), help=" ".join(about))


def choose_runs(runs: Mapping[str, Run], key: str, language: str) -> list[Run]:
    """Draw the choices of the run on screen and of the runs compared with it.

    Returns the others.
    """
    labels = {name: _label(name, run, language) for name, run in runs.items()}  # read once
    session.set_widget(session.RUN, key)
    st.selectbox(
        say("train.run", language),
        list(runs),
        format_func=labels.__getitem__,
        key=session.RUN,
        on_change=lambda: train_state.show_run(session.widget_value(session.RUN)),
        label_visibility="collapsed",
        width=330,
    )
    others = [name for name in runs if name != key]
    session.set_widget(session.COMPARED_RUNS, train_state.compared(runs, key))
    label = say("train.compare", language)
    steps = comparisons.steps_of(runs[key])
    nothing = not others and len(steps) < 2
    with st.popover(label, key="compare", icon=":material/stacked_line_chart:", disabled=nothing):
        chosen = st.multiselect(
            say("train.compare_label", language, count=MOST_RUNS - 1),
            others,
            format_func=labels.__getitem__,
            placeholder=say("train.compare_none", language),
            key=session.COMPARED_RUNS,
            on_change=lambda: train_state.compare_with(session.widget_value(session.COMPARED_RUNS)),
            max_selections=MOST_RUNS - 1,
            width=360,
        )
        if len(steps) > 1 and st.button(
            say("train.compare_moments", language), key="moments", icon=":material/compare:"
        ):
            address_bar.open_query(_HEADS, comparisons.pair_query(key, steps))
    return [runs[name] for name in chosen]


def opens(run: Run, recorded: bool) -> bool:
    """Whether Explore can open a model of the run; none without the causal mask ships."""
    return run.config.causal if recorded else run.checkpoint_path.exists()


def open_and_delete(run: Run, recorded: bool, language: str) -> bool:
    """Draw Open in Explore, and Delete. Returns whether the first was clicked."""
    has_model = opens(run, recorded)
    about = "recorded" if recorded else "help" if has_model else "none"
    if recorded and not has_model:
        about = "recorded_none"
    opened = st.button(
        say("train.open", language),
        key="open",
        icon=":material/visibility:",
        help=say(f"train.open_{about}", language),
        disabled=not has_model,
    )
    deletable = not recorded and not run.active
    if deletable:
        with st.popover(say("train.delete", language), key="delete", icon=":material/delete:"):
            st.markdown(say("train.delete_sure", language, name=literal(run.name)))
            st.button(
                say("train.delete_yes", language, name=literal(run.name)),
                key="delete-yes",
                type="primary",
                on_click=partial(_delete, run),
            )
    else:
        st.button(
            say("train.delete", language),
            key="delete-idle",
            icon=":material/delete:",
            help=say("train.delete_refused", language),
            disabled=True,
        )
    return opened


def _demo(language: str) -> TrainingConfig:
    """The chosen quick demo: a task, or `reverse` without the causal mask."""
    names = sorted(TASK_NAMES, key=lambda name: (name != "reverse", name))
    labels = {name: task_label(name, language) for name in names}
    labels[_NO_MASK] = say("train.task_no_mask", language)
    chosen = st.selectbox(
        say("train.quick", language),
        list(labels),
        format_func=lambda name: f"{say('train.quick', language)}: {labels[name]}",
        key=f"train-task-{language}",
        label_visibility="collapsed",
        width=260,
    )
    task, causal = ("reverse", False) if chosen == _NO_MASK else (chosen, True)
    demo = quick_demo(task, on_gpu=available_devices()[0] != "cpu", causal=causal)
    return replace(demo, seed=train_state.demo_seed())


def _stop_and_resume(run: Run | None, recorded: bool, language: str) -> None:
    """Stop and Resume, for the run on screen."""
    active = run is not None and run.active and not run.status().is_starting
    resumable = run is not None and not recorded and run.resumable
    stop = run.request_stop if run else _nothing
    resume = partial(training_launcher.launch, run) if run else _nothing
    why_not = "" if active and not recorded else "stop_idle"
    _button("stop", language, stop, icon="stop", why_not=why_not)
    step = _saved_step(run) if run and resumable else 0
    why_not = "" if resumable else "resume_idle"
    if run and run.status().diverged:
        why_not = "resume_diverged"
    _button("resume", language, resume, icon="resume", why_not=why_not, step=step)


def _saved_step(run: Run) -> int:
    """Step from which a run can be resumed, as far as its files can be read."""
    try:
        return run.saved_step
    except ExplorerError:  # to resume it raises the same
        return run.status().step


def _button(
    name: str,
    language: str,
    act: Callable[[], None],
    *,
    icon: str,
    why_not: str = "",
    primary: bool = False,
    **facts: object,
) -> None:
    """A button that calls `act`. Its help text, with `facts`, says what it does.

    why_not: key of the help text that says why it is disabled; "" if it is enabled.
    primary: it has no help text, which would stay over the run that it starts.
    """
    about = "" if primary else say(f"train.{why_not or f'{name}_help'}", language, **facts)
    st.button(
        say(f"train.{name}", language),
        key=name,
        on_click=partial(_try, act),
        icon=f":material/{icon}:",
        help=about or None,
        disabled=bool(why_not),
        type="primary" if primary else "secondary",
    )


def _try(act: Callable[[], None]) -> None:
    """Call `act`, or report why it failed."""
    try:
        act()
    except ExplorerError as error:
        messages.report(error)


def _start_demo(demo: TrainingConfig) -> None:
    if train_state.takes_start():
        _start(demo)


def _start(config: TrainingConfig) -> None:
    train_state.show_run(training_launcher.key_of(training_launcher.start(config)))
    train_state.renew_demo_seed()


def _start_on_corpus(config: TrainingConfig, corpus: UploadedCorpus) -> None:
    run = training_launcher.start_pairs(config, corpus.data, corpus.name)
    train_state.show_run(training_launcher.key_of(run))


def _delete(run: Run) -> None:
    _try(run.delete)
    train_state.show_run(None)


def _nothing() -> None:
    """The action of a disabled button: none."""


def _open_settings_form(demo: TrainingConfig, language: str) -> None:
    """Open the form of all settings over the page."""
    title = say("train.settings_title", language)

    @st.dialog(title, width="large", on_dismiss=train_state.close_form)
    def form() -> None:
        config = settings_form(demo, language)
        if config is not None:
            train_state.close_form()
            _try(partial(_start, config))
            st.rerun()

    form()


def _open_corpus_form(language: str) -> None:
    """Open the form for an uploaded corpus over the page."""
    title = say("train.pairs_title", language)

    @st.dialog(title, width="large", on_dismiss=train_state.close_form)
    def form() -> None:
        chosen = corpus_form(language)
        if chosen is not None:
            train_state.close_form()
            _try(partial(_start_on_corpus, *chosen))
            st.rerun()

    form()


def _facts(demo: TrainingConfig, language: str) -> str:
    """The cost of the quick demo, and the number of runs queued before it."""
    cost = estimate(demo, finished_runs(training_launcher.run_root("runs")))
    facts = [
        estimate_text(cost, demo.device, language),
        say("train.fact_seed", language, value=demo.seed),
    ]
    ahead = sum(run.config.device == demo.device for run in training_launcher.active_runs())
    if ahead:
        facts.insert(0, say("train.queue", language, count=ahead))
    return literal(" · ".join(facts))


def _label(key: str, run: Run, language: str) -> str:
    """A run in the list: its name and its state."""
    if train_state.is_recorded(key):
        return say("train.run_recorded", language, name=run.name)
    status = run.status()
    state = "diverged" if status.diverged else status.state
    word = "short_waiting" if state == "waiting" else f"state_{state}"
    return say("train.run_label", language, name=run.name, state=say(f"train.{word}", language))
