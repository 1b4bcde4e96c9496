"""The section of Heads with pruning curves: measurements while heads are removed one after
another."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st

from explorer.app import model_cache, mount
from explorer.app.state import measurements
from explorer.app.widgets.downloads import download_button, download_name
from explorer.app.widgets.job_progress import (
    choose_report,
    form_popover,
    job_progress,
    start_button,
)
from explorer.app.widgets.messages import literal
from explorer.app.widgets.pruning_form import begin, default_settings, pruning_form
from explorer.app.widgets.sentence_choice import default_kind
from explorer.components import pruning_figure
from explorer.components.chart_payload import chart_payload
from explorer.components.labels import batch_name
from explorer.core.i18n import say
from explorer.heads.pruning.pruning_report import PruningReport
from explorer.jobs.pruning_jobs import StoredPruning, has_job, stored_prunings
from explorer.model.catalog import CatalogModel

_REFRESH = 2.0  # seconds between two looks at curves that grow


def pruning_panel(model: CatalogModel, language: str) -> None:
    """The choice of curves, their downloads, the form, and the chart."""
    if model_cache.model_of(model).passes.logits_size == 0:
        st.info(say("pruning.no_predictions", language))
        return
    digest = model_cache.digest(model)
    stored = stored_prunings(digest)
    chosen = measurements.current().shown.get("pruning")
    shown = next((report for report in stored if report.key == chosen), None)
    shown = shown or (stored[0] if stored else None)
    with st.container(
        key="measurement-panel", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if shown is not None:
            names = names_of(stored, language)
            key = "pruning-report"
            choose_report("pruning", "pruning.reports", key, names, shown.key, language)
            _downloads(shown, language)
        with form_popover(say("pruning.measure", language)):
            pruning_form(model, language)
    job_progress("pruning", language)
    growing = has_job(digest)
    follow = st.fragment(_curves, run_every=_REFRESH if growing else None)
    with st.container(key="head-tables"):
        if shown is None and not growing:
            _nothing(model, language)
        else:
            follow(digest, [one.key for one in stored], shown.key if shown else None, language)


def names_of(stored: Sequence[StoredPruning], language: str) -> dict[str, str]:
    """Names of the curves in the list by key: their sentences, numbered if two are alike."""
    names, often = {}, Counter[str]()
    for one in stored:
        facts = one.report.facts
        name = f"{batch_name(facts['batch'], language)} · {facts['sentences']}"
        often[name] += 1
        if often[name] > 1:
            name = f"{name} ({often[name]})"
        if not one.report.complete and not one.growing:
            name = say("pruning.unfinished", language, name=name)
        names[one.key] = name
    return names


def _downloads(shown: StoredPruning, language: str) -> None:
    """The table, as it is when the button is pressed."""
    name = _file_name(shown.report)

    def table() -> bytes:
        return shown.now().to_csv()

    download_button("pruning.table", table, f"{name}.csv", "pruning-table", language)


def _file_name(report: PruningReport) -> str:
    facts = report.facts
    return download_name("pruning", facts["model"], facts["batch"], facts["sentences"])


def _nothing(model: CatalogModel, language: str) -> None:
    """Say that nothing was measured, with a button that starts a measurement."""
    settings = default_settings(model)
    orders = say("pruning.and", language).join(
        pruning_figure.order_name(one, language) for one in settings.orders
    )
    count = settings.sentences.size
    sentences = say(f"pruning.sentences_{default_kind(model)}", language, count=count)
    facts = {"orders": orders, "sentences": sentences}
    st.info(literal(say("pruning.nothing", language, **facts)))
    begins = partial(begin, model, language, settings=settings)
    start_button("prune-default", model, begins, language, icon=":material/play_arrow:")


def _curves(digest: str, drawn: Sequence[str], key: str | None, language: str) -> None:
    """The chart, drawn again as it grows. drawn: the keys that the page knows."""
    stored = stored_prunings(digest)
    if {one.key for one in stored} != set(drawn):
        st.rerun()
    report = next((one.report for one in stored if one.key == key), None)
    if report is None or not any(curve.losses for curve in report.curves):
        st.caption(say("pruning.first_point", language))
        return
    about = _about(report, language)
    title = say("pruning.title", language, model=report.facts["model"])
    payload = chart_payload(
        pruning_figure.pruning_chart(report, language),
        name=say("pruning.chart", language),
        title=title if report.complete else say("pruning.unfinished", language, name=title),
        captions=[about],
        file_name=_file_name(report),
        language=language,
    )
    mount.chart("pruning-chart", payload)
    st.caption(literal(about))
    with st.expander(say("pruning.orders_found", language)):
        for name, heads in pruning_figure.removal_orders(report, language):
            st.caption(f"**{literal(name)}:** {literal(heads)}")
    if not report.complete and not has_job(digest):
        st.caption(literal(say("pruning.go_on", language)))


def _about(report: PruningReport, language: str) -> str:
    batch = batch_name(report.facts["batch"], language)
    return pruning_figure.about(report, batch, language)
