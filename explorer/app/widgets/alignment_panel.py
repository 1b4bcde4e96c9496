"""The section of Heads that compares its heads with gold links: alignment error rates."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from explorer.app import model_cache
from explorer.app.state import measurements
from explorer.app.widgets import head_tables
from explorer.app.widgets.alignment_form import alignment_form
from explorer.app.widgets.downloads import download_button, download_name
from explorer.app.widgets.head_table_columns import columns, written
from explorer.app.widgets.job_progress import choose_report, form_popover, job_progress
from explorer.app.widgets.measurement_panel import reports_of
from explorer.app.widgets.messages import literal
from explorer.components.labels import batch_name
from explorer.core.i18n import say
from explorer.core.number_format import percent
from explorer.heads.alignment.aer_report import (
    DIAGONAL,
    AlignmentMethod,
    AlignmentReport,
    ErrorRate,
)
from explorer.jobs.alignment_jobs import stored_alignments
from explorer.model.catalog import CatalogModel


def alignment_panel(model: CatalogModel, language: str) -> None:
    """The choice of report, its download, the form, and the report."""
    if not model.is_own:
        st.info(say("heads.align_own_only", language))
        return
    digest = model_cache.digest(model)
    stored = stored_alignments(digest)
    chosen = measurements.current().shown.get("alignment")
    shown = next((report for report in stored if report.key == chosen), None)
    shown = shown or (stored[0] if stored else None)
    with st.container(
        key="measurement-panel", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if shown is not None:
            names = {one.key: f"{one.report.name} · {one.report.pairs}" for one in stored}
            label, key = "heads.align_reports", "alignment-report"
            choose_report("alignment", label, key, names, shown.key, language)
            _download(shown.report, model.label, language)
        with form_popover(say("heads.align_measure", language)):
            alignment_form(model, language)
    job_progress("alignment", language)
    with st.container(key="head-tables"):
        if shown is not None:
            _report(shown.report, language)
        else:
            _measured(model, language)


def rates_table(report: AlignmentReport, language: str) -> pd.DataFrame:
    """One row a method, the lowest error rate first, with rates as shares of 1."""
    rows = []
    for method, rate in report.rates:
        row: dict[str, object] = {
            "method": method_name(method, language),
            "row": say(f"player.alignment_{method.timing}", language) if method.timing else "–",
            "error_rate": rate.value,
            "error_rate_interval": _interval(rate),
        }
        by_length = zip(("short", "medium", "long"), rate.by_length, strict=True)
        rows.append(row | dict(by_length))
    return pd.DataFrame(rows)


def method_name(method: AlignmentMethod, language: str) -> str:
    """The head, the mean of a layer's heads, or the diagonal."""
    if method.layer is None:
        return say("heads.align_diagonal", language)
    if method.head is None:
        return say("heads.align_mean", language, layer=method.layer)
    return method.name


def verdict(report: AlignmentReport, language: str) -> str:
    """Sentence on the head that agrees best with the links, or on the diagonal if that agrees
    best."""
    rates = dict(report.rates)
    diagonal = rates[DIAGONAL]
    facts = {"diagonal": percent(diagonal.value), "diagonal_interval": _interval(diagonal)}
    method, best = report.rates[0]
    if method == DIAGONAL:
        return say("heads.align_diagonal_wins", language, **facts)
    facts |= {"method": method_name(method, language), "rate": percent(best.value)}
    facts["interval"] = _interval(best)
    facts["row"] = say(f"player.alignment_{method.timing}", language)
    return say("heads.align_best", language, **facts)


def _download(report: AlignmentReport, name: str, language: str) -> None:
    file_name = f"{download_name('alignment', name, report.name, report.pairs)}.csv"
    make = partial(AlignmentReport.to_csv, report)
    download_button("heads.download", make, file_name, "alignment-download", language)


def _measured(model: CatalogModel, language: str) -> None:
    """Shown before any comparison: the result along gold links of a measurement of the heads, if
    there is one."""
    reports = (one.report for one in reports_of(model))
    report = next((one for one in reports if one.facts.get("linked")), None)
    if report is None:
        st.info(say("heads.no_alignment", language))
        return
    on = report.facts["linked"]
    about = {"name": batch_name(on["batch"], language), "count": on["sentences"]}
    st.markdown(literal(say("heads.align_measured", language, **about)))
    table = head_tables.linked(report, language)
    st.dataframe(
        written(table),
        column_config=columns(table, language),
        hide_index=True,
        key="linked-table",
        placeholder="–",
        height="stretch",
    )


def _report(report: AlignmentReport, language: str) -> None:
    if report.diagonal_wins:
        st.warning(literal(verdict(report, language)))
    elif report.rates:
        st.markdown(literal(verdict(report, language)))
    table = rates_table(report, language)
    shares: dict[Any, Any] = dict.fromkeys(("error_rate", "short", "medium", "long"), _share)
    st.dataframe(
        table.style.format(shares),
        column_config=columns(table, language, "align"),
        hide_index=True,
        key="alignment-table",
        placeholder="–",
        height="stretch",
    )
    about = {"name": report.name, "pairs": report.pairs, "skipped": report.skipped}
    about["unlinked"] = report.unlinked
    about["tokens"] = say(f"heads.align_tokens_{report.unit}", language)
    st.caption(literal(say("heads.align_batch", language, **about)))


def _share(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%" if share == share else "–"


def _interval(rate: ErrorRate) -> str:
    return f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]" if rate.low == rate.low else "–"
