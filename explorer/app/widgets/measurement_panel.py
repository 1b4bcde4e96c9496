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
from explorer.heads import measurement_store
from explorer.heads.head_report import Findings
from explorer.heads.measurement_store import KINDS, Batch, Job, Kept, Kind, MeasuringError
from explorer.model.catalog import Entry

_BEAT = 1.0  # seconds between two looks at a measurement that goes on
_FORM = "measure-"


def found(entry: Entry) -> list[Kept]:
    """All that is known of a model's heads, what the visitor chose first."""
    every = measurement_store.known(experiment_cache.digest(entry.stamp, entry))
    chosen = heads_state.batch()
    return sorted(every, key=lambda one: one.key != chosen) if chosen else every


def gauges(entry: Entry, known: Sequence[Kept], language: str) -> None:
    """Which batch is shown, downloads of it, and the way to measure on another."""
    with st.container(key="gauges", horizontal=True, vertical_alignment="center", gap="small"):
        if known:
            _choose(entry, known, language)
            _downloads(known[0].findings, entry.name, language)
        with st.popover(say("heads.measure", language), icon=":material/speed:"):
            _form(entry, language)
    own = heads_state.job()
    job = own or measurement_store.under_way(experiment_cache.digest(entry.stamp, entry))
    if job is not None:
        watch = st.fragment(_watch, run_every=_BEAT if job.going else None)
        watch(job, own is not None, language)


def _choose(entry: Entry, known: Sequence[Kept], language: str) -> None:
    every = measurement_store.known(
        experiment_cache.digest(entry.stamp, entry)
    )  # in an order that stays
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


def _downloads(findings: Findings, name: str, language: str) -> None:
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


def _table(findings: Findings) -> bytes:
    return findings.to_csv().encode("utf-8-sig")  # the mark tells spreadsheets what it is


def _form(entry: Entry, language: str) -> None:
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
        key=f"{_FORM}kind-{'' if kinds == KINDS else 'own-'}{language}",
    )
    text = ""
    with st.container(horizontal=True):
        size = st.number_input(
            say("heads.size", language),
            1,
            measurement_store.MOST_SENTENCES,
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
    batch = Batch(kind, int(size), int(seed), text, gradients, removal)
    st.button(
        say("heads.start", language),
        key=f"{_FORM}start",
        type="primary",
        on_click=partial(_start, entry, batch, language),
    )


def _kinds(entry: Entry) -> tuple[Kind, ...]:
    """On what this model can be measured: only a task of ours makes new sentences."""
    known = task_of(model_cache.model_of(entry).facts)
    return KINDS if known else tuple(kind for kind in KINDS if kind != "task")


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


def _start(entry: Entry, batch: Batch, language: str) -> None:
    """Begin to measure, or note in one sentence why not."""
    if not access.rights(explore_state.is_host()).bring:
        return
    try:
        model = model_cache.model_of(entry)
        measurement_store.check(model, batch, language)
        digest = experiment_cache.digest(entry.stamp, entry)
        heads_state.follow_job(measurement_store.start(model, entry.path, batch, digest))
    except ExplorerError as error:
        heads_state.note_problem(error)


def _watch(job: Job, own: bool, language: str) -> None:
    """How far a measurement is, and the way to end it; when it is over, the page follows.

    own: whether this visitor asked for it. Others, and who asked and then loaded the page anew,
    see it too; who may measure may end it.
    """
    if job.going:
        with st.container(key="measuring", horizontal=True, vertical_alignment="center"):
            percent = f"{100 * job.share:.0f} %"
            st.progress(job.share, say("heads.measuring", language, share=percent))
            if access.rights(explore_state.is_host()).bring:
                st.button(say("heads.cancel", language), key="heads-cancel", on_click=job.cancel)
        return
    if own:
        heads_state.follow_job(None)
        if job.done:
            heads_state.show_batch(job.key)
        elif not job.cancelled:
            heads_state.note_problem(MeasuringError("measure_failed", reason=job.reason))
    st.rerun()


def labels(every: Sequence[Kept]) -> dict[str, str]:
    """How batches are named in the list, by key: where two would look alike, with their time."""
    names = {one.key: _name(one.findings) for one in every}
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


def _name(findings: Findings) -> str:
    return f"{findings.facts['batch']} · {findings.facts['sentences']}"
