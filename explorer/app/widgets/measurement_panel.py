"""The gauges: which measurements of a model are shown, and measuring anew."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from explorer.app import experiment_cache, model_cache
from explorer.app.server import access
from explorer.app.state import explore as explore_state
from explorer.app.state import heads as heads_state
from explorer.app.uploads import take_file, upload_key
from explorer.app.widgets.messages import plain
from explorer.core.errors import ExplorerError, FileError
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten
from explorer.data.task_names import task_of
from explorer.heads import measurement_jobs
from explorer.heads.head_report import HeadReport
from explorer.heads.measurement_jobs import (
    SOURCE_KINDS,
    Job,
    MeasurementError,
    MeasurementSettings,
    SourceKind,
)
from explorer.heads.measurement_store import StoredReport, stored_reports
from explorer.model.catalog import CatalogModel, ShippedModel

_BEAT = 1.0  # seconds between two looks at a measurement that goes on
_FORM = "measure-"


def found(entry: CatalogModel) -> list[StoredReport]:
    """All that is known of a model's heads, what the visitor chose first."""
    every = stored_reports(experiment_cache.digest(entry.stamp, entry))
    chosen = heads_state.batch()
    return sorted(every, key=lambda one: one.key != chosen) if chosen else every


def gauges(entry: CatalogModel, known: Sequence[StoredReport], language: str) -> None:
    """Which batch is shown, downloads of it, and the way to measure on another."""
    with st.container(key="gauges", horizontal=True, vertical_alignment="center", gap="small"):
        if known:
            _choose(entry, known, language)
            _downloads(known[0].report, entry.name, language)
        with st.popover(say("heads.measure", language), icon=":material/speed:"):
            _form(entry, language)
    own = heads_state.job()
    job = own or measurement_jobs.running_job(experiment_cache.digest(entry.stamp, entry))
    if job is not None:
        watch = st.fragment(_watch, run_every=_BEAT if job.running else None)
        watch(job, own is not None, language)


def _choose(entry: CatalogModel, known: Sequence[StoredReport], language: str) -> None:
    every = stored_reports(experiment_cache.digest(entry.stamp, entry))  # in an order that stays
    names = labels(every)
    key = f"{_FORM}batch-{language}"
    st.session_state[key] = known[0].key
    st.selectbox(
        say("heads.findings", language),
        list(names),
        format_func=lambda one: names.get(one, one),
        key=key,
        on_change=partial(heads_state.pick_batch, key),
        label_visibility="collapsed",
        width=420,
    )


def _downloads(findings: HeadReport, name: str, language: str) -> None:
    """The table with all its digits, and everything that was measured."""
    offers: dict[str, tuple[Callable[[], str | bytes], str, str]] = {
        "download": (partial(_table, findings), ".csv", "text/csv"),
        "download_all": (findings.to_json, ".json", "application/json"),
    }
    for offer, (make, ending, kind) in offers.items():
        st.download_button(
            say(f"heads.{offer}", language),
            make,
            file_name=f"heads-{name}{ending}".replace(" ", "-"),
            mime=kind,
            key=f"heads-{offer}",
            on_click="ignore",
            icon=":material/download:",
        )


def _table(findings: HeadReport) -> bytes:
    return findings.to_csv().encode("utf-8-sig")  # the mark tells spreadsheets what it is


def _form(entry: CatalogModel, language: str) -> None:
    """What to measure on, and how much."""
    if not access.rights(explore_state.is_host()).bring:
        st.caption(say("heads.measure_host_only", language))
        return
    st.caption(say("heads.measure_about", language))
    kinds = _kinds(entry)
    kind = st.radio(
        say("heads.source", language),
        kinds,
        format_func=lambda name: say(f"heads.source_{name}", language),
        key=f"{_FORM}kind-{'' if kinds == SOURCE_KINDS else 'own-'}{language}",
    )
    text = ""
    with st.container(horizontal=True):
        size = st.number_input(
            say("heads.size", language),
            1,
            measurement_jobs.MOST_SENTENCES,
            256,
            key=f"{_FORM}size",
        )
        seed = 0
        if kind == "task":
            seed = st.number_input(say("heads.seed", language), 0, 9999, 0, key=f"{_FORM}seed")
    if kind == "lines":
        label = say("heads.lines", language)
        text = st.text_area(label, key=f"{_FORM}lines", placeholder="\n".join(entry.examples[:2]))
    if kind == "pairs":
        text = _pairs(language)
    gradients = st.checkbox(say("heads.with_importance", language), True, key=f"{_FORM}gradients")
    removal = st.checkbox(say("heads.with_removal", language), True, key=f"{_FORM}removal")
    settings = MeasurementSettings(kind, int(size), int(seed), text, gradients, removal)
    st.button(
        say("heads.start", language),
        key=f"{_FORM}start",
        type="primary",
        on_click=partial(_start, entry, settings, language),
    )


def _kinds(entry: CatalogModel) -> tuple[SourceKind, ...]:
    """On what this model can be measured: only a task of ours makes new sentences."""
    known = task_of(model_cache.model_of(entry).facts)
    return SOURCE_KINDS if known else tuple(kind for kind in SOURCE_KINDS if kind != "task")


def _pairs(language: str) -> str:
    """The pairs of the file this visitor brought last."""
    choose = json.dumps(say("explore.upload_choose", language), ensure_ascii=False)
    st.html(f"<style>:root {{ --choose-file: {choose}; }}</style>")  # see main.css
    key = f"{_FORM}{upload_key()}"
    st.file_uploader(
        say("heads.pairs", language),
        type=["tsv", "txt"],
        max_upload_size=1,
        key=key,
        on_change=partial(_take_pairs, key),
    )
    name, text = heads_state.pairs()
    if name:
        count = len(text.splitlines())
        st.caption(plain(say("heads.pairs_taken", language, name=name, count=count)))
    return text


def _take_pairs(key: str) -> None:
    """Keep the text of a file of pairs, or note in one sentence why not."""
    if (file := take_file(key)) is None:
        return
    name, contents = file
    try:
        heads_state.keep_pairs(shorten(name), contents.decode("utf-8-sig"))
    except UnicodeDecodeError:
        heads_state.note_problem(FileError("unreadable_file", name=shorten(name)))


def _start(entry: CatalogModel, settings: MeasurementSettings, language: str) -> None:
    """Begin to measure, or note in one sentence why not."""
    if not access.rights(explore_state.is_host()).bring:
        return
    try:
        from explorer.model.checkpoint import to_bytes

        model = model_cache.model_of(entry)
        measurement_jobs.check(model, settings, language)
        digest = experiment_cache.digest(entry.stamp, entry)
        checkpoint = entry.path if isinstance(entry, ShippedModel) else to_bytes(model.checkpoint)
        heads_state.follow_job(measurement_jobs.start(checkpoint, model.name, settings, digest))
    except ExplorerError as error:
        heads_state.note_problem(error)


def _watch(job: Job, own: bool, language: str) -> None:
    """How far a measurement is, and the way to end it; when it is over, the page follows.

    own: whether this visitor asked for it. Others, and who asked and then loaded the page anew,
    see it too; who may measure may end it.
    """
    if job.running:
        with st.container(key="measuring", horizontal=True, vertical_alignment="center"):
            percent = f"{100 * job.progress:.0f} %"
            st.progress(job.progress, say("heads.measuring", language, share=percent))
            if access.rights(explore_state.is_host()).bring:
                st.button(say("heads.cancel", language), key="heads-cancel", on_click=job.cancel)
        return
    if own:
        heads_state.follow_job(None)
        if job.done:
            heads_state.show_batch(job.report_key)
        elif not job.cancelled:
            heads_state.note_problem(MeasurementError("measure_failed", reason=job.failure))
    st.rerun()


def labels(every: Sequence[StoredReport]) -> dict[str, str]:
    """How batches are named in the list, by key: where two would look alike, with their time."""
    names = {one.key: _name(one.report) for one in every}
    often = Counter(names.values())
    for one in every:
        if often[names[one.key]] > 1:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.written))
            names[one.key] = f"{names[one.key]} · {when}"
    seen: Counter[str] = Counter()
    for key, name in names.items():
        seen[name] += 1
        names[key] = f"{name} ({seen[name]})" if seen[name] > 1 else name
    return names


def _name(findings: HeadReport) -> str:
    return f"{findings.facts['batch']} · {findings.facts['sentences']}"
