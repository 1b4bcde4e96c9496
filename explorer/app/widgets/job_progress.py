"""How far a measurement of the heads is, and the button that cancels it."""

from collections.abc import Callable

import streamlit as st

from explorer.app.state import messages, visitor
from explorer.core.i18n import say
from explorer.heads.measurement_jobs import Job, MeasurementError

_REFRESH = 1.0  # seconds between two looks at a running measurement


def job_progress(
    own: Job | None,
    running: Job | None,
    follow: Callable[[Job | None], None],
    show: Callable[[str], None],
    language: str,
) -> None:
    """The progress of `own`, which this visitor started, or else of `running`; nothing without
    either. At its end the page is drawn again.

    running: whoever started it: others see it too, and this visitor after a reload; all with the
    right to measure may cancel it.
    follow: remembers the job of this visitor. show: shows the report with this key.
    """
    job = own or running
    if job is None:
        return
    progress = st.fragment(_progress, run_every=_REFRESH if job.running else None)
    progress(job, own is not None, follow, show, language)


def _progress(
    job: Job,
    own: bool,
    follow: Callable[[Job | None], None],
    show: Callable[[str], None],
    language: str,
) -> None:
    if job.running:
        with st.container(key="measurement-progress", horizontal=True, vertical_alignment="center"):
            percent = f"{100 * job.progress:.0f} %"
            st.progress(job.progress, say("heads.measuring", language, share=percent))
            if visitor.rights().change:
                st.button(say("heads.cancel", language), key="heads-cancel", on_click=job.cancel)
        return
    if own:
        follow(None)
        if job.done:
            show(job.report_key)
        elif not job.cancelled:
            messages.report(MeasurementError("measure_failed", reason=job.failure))
    st.rerun()
