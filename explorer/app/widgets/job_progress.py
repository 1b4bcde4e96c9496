"""The jobs that measure a model: how far each is or what it waits for, and the button that cancels
it."""

from collections.abc import Callable

import streamlit as st

from explorer.app.state import messages, visitor
from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.heads.job_queue import Job, MeasurementError, QueuedJob, queued_jobs

_REFRESH = 1.0  # seconds between two looks at the queue


def job_progress(
    own: Job | None,
    follow: Callable[[Job | None], None],
    show: Callable[[str], None],
    language: str,
) -> None:
    """All jobs of this server, whoever started them: nothing where there is none. When one ends or
    begins the page is drawn again.

    Visitors with the right to measure may cancel each of them.
    own: which this visitor started last. follow: remembers such a job. show: shows the report with
    this key.
    """
    queued = queued_jobs()
    if own is None and not queued:
        return
    fragment = st.fragment(_progress, run_every=_REFRESH if queued else None)
    fragment(own, queued, follow, show, language)


def _progress(
    own: Job | None,
    drawn: list[QueuedJob],
    follow: Callable[[Job | None], None],
    show: Callable[[str], None],
    language: str,
) -> None:
    """drawn: the queue when the page was drawn."""
    queued = queued_jobs()
    for waits_for, one in enumerate(queued):
        _row(one, waits_for, one.job == own, language)
    if own is not None and not own.active:
        follow(None)
        if own.done:
            show(own.report_key)
        elif not own.cancelled:
            messages.report(MeasurementError("measure_failed", reason=own.failure))
        st.rerun()
    if queued != drawn:
        _tell_ended([one for one in drawn if one not in queued], language)
        st.rerun()


def _tell_ended(ended: list[QueuedJob], language: str) -> None:
    """Say where the result is of the last that others started, or this visitor before the page was
    loaded anew."""
    for one in ended:
        if one.job.done:
            messages.notify(say(f"heads.{one.kind}_done", language, name=one.name))


def _row(queued: QueuedJob, waits_for: int, own: bool, language: str) -> None:
    """One job. waits_for: the number of jobs before it."""
    job, facts = queued.job, {"name": queued.name, "share": f"{100 * queued.job.progress:.0f} %"}
    state = "waits" if waits_for else "measures"
    text = say(f"heads.{queued.kind}_{state}", language, count=waits_for, **facts)
    if own:
        text += say("heads.job_yours", language)
    key = f"{job.folder.parent.name}-{job.folder.name}"
    with st.container(
        key=f"measurement-progress-{key}", horizontal=True, vertical_alignment="center"
    ):
        st.progress(job.progress, literal(text))
        if visitor.rights().change:
            label = say("heads.cancel", language)
            st.button(label, key=f"heads-cancel-{key}", on_click=job.cancel)
