"""Jobs that measure a model: the button that starts one, their progress or what they wait for, the
button that cancels them, the message at their end, and the choice of a report."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.state import measurements, session
from explorer.app.widgets import messages
from explorer.app.widgets.messages import literal
from explorer.components.labels import batch_name
from explorer.core.errors import ExplorerError, MeasurementError
from explorer.core.i18n import say
from explorer.heads.reports.report_files import ReportKind
from explorer.jobs.measurement import (
    MeasuredSentences,
    QueuedMeasurement,
    queued_measurements,
)
from explorer.model.catalog import CatalogModel

_REFRESH = 1.0  # seconds between two looks at the queue


Begin: TypeAlias = Callable[[Model], QueuedMeasurement]
"""Starts a measurement of a loaded model. May raise `ExplorerError`."""


def form_popover(label: str) -> DeltaGenerator:
    """The popover with the form of a measurement. It closes when one starts: the progress is below
    it."""
    key = f"form-{measurements.current().begun}"
    return st.popover(label, key=key, icon=":material/speed:")


def start_button(
    key: str,
    model: CatalogModel,
    begin: Begin,
    language: str,
    label: str = "heads.start",
) -> None:
    """The button that starts a measurement of `model`, or reports why it cannot start. label: key
    of a sentence."""
    st.button(
        say(label, language),
        key=key,
        type="primary",
        on_click=partial(_start, model, begin, language),
    )


def _start(model: CatalogModel, begin: Begin, language: str) -> None:
    """Start a measurement, or report why it cannot start."""
    try:
        started = begin(model_cache.model_of(model))
    except ExplorerError as error:
        messages.report(error)
        return
    follow_started(started, language)


def follow_started(started: QueuedMeasurement, language: str) -> None:
    """Follow a job that this visitor started. If it is done already, show its report and say so."""
    if not started.job.done:
        measurements.follow(started)
        return
    measurements.show_result(started.job)
    sentences = sentences_name(started.sentences, language)
    messages.notify(say("heads.already_measured", language, sentences=sentences))


def choose_report(
    kind: ReportKind, label: str, key: str, names: Mapping[str, str], shown: str, language: str
) -> None:
    """The choice of the report on screen, with the names of reports by key. label: key of a
    sentence. key: of the widget. shown: key of the report on screen."""
    key = session.shown_as(key, language, shown)
    st.selectbox(
        say(label, language),
        list(names),
        format_func=lambda one: names.get(one, one),
        key=key,
        on_change=partial(session.read_choice, key, partial(measurements.show_report, kind)),
        label_visibility="collapsed",
        width=420,
    )


def job_progress(kind: ReportKind, language: str) -> None:
    """Draw the jobs of this server, whoever started them; nothing if there are none. When one
    starts or ends, the page is drawn again.

    Visitors with the right to measure may cancel each of them.
    kind: of the section on screen.
    """
    queued = queued_measurements()
    if not measurements.current().started and not queued:
        return
    fragment = st.fragment(_progress, run_every=_REFRESH if queued else None)
    fragment(kind, queued, language)


def sentences_name(sentences: MeasuredSentences, language: str) -> str:
    """The sentences of a job, as a list of jobs names them."""
    if sentences.seed is not None:
        facts = {"count": sentences.count, "seed": sentences.seed}
        return say("heads.job_on_task", language, **facts)
    return f"{batch_name(sentences.name, language)} · {sentences.count}"


def _progress(kind: ReportKind, drawn: list[QueuedMeasurement], language: str) -> None:
    """drawn: the queue when the page was drawn."""
    queued = queued_measurements()
    if queued:
        _rows(queued, language)
    started = measurements.current().started
    ended = [measurement for measurement in started if not measurement.job.active]
    for measurement in ended:
        measurements.forget(measurement.job)
        job = measurement.job
        if not (job.done and measurement == started[-1] and job.kind == kind):
            _tell_end(measurement, language)
        else:
            measurements.show_result(job)
    if ended or queued != drawn:
        told_already = {measurement.job for measurement in (*queued, *started)}
        for measurement in drawn:
            if measurement.job.done and measurement.job not in told_already:
                _tell_end(measurement, language)
        st.rerun()


def _tell_end(ended: QueuedMeasurement, language: str) -> None:
    """Say where the result of a job is, or why there is none."""
    job, name = ended.job, ended.name
    if job.done:
        messages.notify(say(f"heads.{job.kind}_done", language, name=name))
        return
    reason = MeasurementError("measure_cancelled") if job.cancelled else job.failure
    sentences = sentences_name(ended.sentences, language)
    messages.report(
        MeasurementError(f"{job.kind}_failed", name=name, sentences=sentences, reason=reason)
    )


def _rows(queued: list[QueuedMeasurement], language: str) -> None:
    """Draw the running job and the visitor's next one. All others are in a folded list."""
    own = {one.job for one in measurements.current().started}
    waiting = [place for place, one in enumerate(queued) if one.job in own and place > 0]
    shown = [0, *waiting[:1]]
    folded = [place for place in range(len(queued)) if place not in shown]
    for place in shown:
        _row(queued[place], place, queued[place].job in own, language)
    if not folded:
        return
    yours = sum(queued[place].job in own for place in folded)
    label = say("heads.more_jobs", language, count=len(folded), yours=yours)
    with st.container(key="measurement-progress-more"), st.expander(label):
        for place in folded:
            _row(queued[place], place, queued[place].job in own, language)


def _row(queued: QueuedMeasurement, waits_for: int, own: bool, language: str) -> None:
    """One job. waits_for: the number of jobs before it."""
    job, facts = queued.job, {"name": queued.name, "share": f"{100 * queued.job.progress:.0f} %"}
    facts["sentences"] = sentences_name(queued.sentences, language)
    state = "waits" if waits_for else "measures"
    text = say(f"heads.{job.kind}_{state}", language, count=waits_for, **facts)
    if own:
        text += say("heads.job_yours", language)
    with st.container(
        key=f"measurement-progress-{job.name}", horizontal=True, vertical_alignment="center"
    ):
        st.progress(job.progress, literal(text))
        label = say("heads.cancel", language)
        st.button(label, key=f"heads-cancel-{job.name}", on_click=measurements.cancel, args=(job,))
