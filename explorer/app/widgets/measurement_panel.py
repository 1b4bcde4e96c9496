"""The row above the tables of Heads: the choice of head report, its downloads, and the form for a
new measurement."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from explorer.app import model_cache
from explorer.app.state import measurements
from explorer.app.widgets.downloads import download_button, download_name
from explorer.app.widgets.job_progress import choose_report, form_popover, job_progress
from explorer.app.widgets.measurement_form import measurement_form
from explorer.components.labels import batch_name
from explorer.core.i18n import say
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_store import StoredReport, old_reports, stored_reports
from explorer.model.catalog import CatalogModel


def reports_of(model: CatalogModel) -> list[StoredReport]:
    """All stored reports on a model, the one on screen first."""
    stored = stored_reports(model_cache.digest(model))
    chosen = measurements.current().shown.get("heads")
    return sorted(stored, key=lambda one: one.key != chosen) if chosen else stored


def measurement_panel(model: CatalogModel, reports: Sequence[StoredReport], language: str) -> None:
    """The row; `reports` as `reports_of` returns them."""
    with st.container(
        key="measurement-panel", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if reports:
            stored = stored_reports(model_cache.digest(model))  # in one order, whatever is chosen
            names, shown = report_names(stored, language), reports[0].key
            choose_report("heads", "heads.findings", "measure-batch", names, shown, language)
            _downloads(reports[0].report, model.label, language)
        with form_popover(say("heads.measure", language)):
            measurement_form(model, language)
    digest = model_cache.digest(model)
    if old := old_reports(digest):
        st.caption(say("heads.old_reports", language, count=old))
    job_progress("heads", language)


def report_names(stored: Sequence[StoredReport], language: str) -> dict[str, str]:
    """Key of a report → its name in the list. Equal names get the time of writing."""
    names = {one.key: _name(one.report, language) for one in stored}
    often = Counter(names.values())
    for one in stored:
        if often[names[one.key]] > 1:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.written))
            names[one.key] = f"{names[one.key]} · {when}"
    seen: Counter[str] = Counter()
    for key, name in names.items():
        seen[name] += 1
        names[key] = f"{name} ({seen[name]})" if seen[name] > 1 else name
    return names


def _downloads(report: HeadReport, name: str, language: str) -> None:
    """The table of heads with all its digits, and the whole report."""
    on = (name, report.facts["batch"], report.facts["sentences"])
    offers: dict[str, tuple[Callable[[], bytes], str]] = {
        "download": (partial(_table, report, language), f"{download_name('heads', *on)}.csv"),
        "download_all": (partial(_whole, report), f"{download_name('heads', *on)}.json"),
    }
    for offer, (make, file_name) in offers.items():
        download_button(f"heads.{offer}", make, file_name, f"heads-{offer}", language)


def _whole(report: HeadReport) -> bytes:
    return report.to_json().encode()


def _table(report: HeadReport, language: str) -> bytes:
    text = report.to_csv(language=language)
    return text.encode("utf-8-sig")  # the byte order mark is for spreadsheets


def _name(report: HeadReport, language: str) -> str:
    name = batch_name(report.facts["batch"], language)
    return f"{name} · {report.facts['sentences']}"
