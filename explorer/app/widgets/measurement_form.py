"""The form that starts a measurement of a model's heads: on which sentences, and of what."""

from functools import partial
from pathlib import Path

import streamlit as st

from explorer.app import experiment_cache, model_cache
from explorer.app.state import heads as heads_state
from explorer.app.state import messages, visitor
from explorer.app.state.heads import EvaluationText
from explorer.app.widgets.file_uploader import file_uploader
from explorer.app.widgets.messages import literal
from explorer.core.errors import ExplorerError, FileError
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten
from explorer.data.task_names import task_of
from explorer.heads import measurement_jobs
from explorer.heads.measurement_jobs import SOURCE_KINDS, MeasurementSettings, SourceKind
from explorer.model.catalog import CatalogModel, StoredModel, UploadedModel

_KEY = "measure-"


def measurement_form(model: CatalogModel, language: str) -> None:
    """The form; in class mode, for guests, one sentence instead."""
    if not visitor.rights().change:
        st.caption(say("heads.measure_host_only", language))
        return
    st.caption(say("heads.measure_about", language))
    settings = _settings(model, _choose_kind(model, language), language)
    st.button(
        say("heads.start", language),
        key=f"{_KEY}start",
        type="primary",
        on_click=partial(_start, model, settings, language),
    )


def _choose_kind(model: CatalogModel, language: str) -> SourceKind:
    """Where the sentences come from; only a toy task generates new ones."""
    has_task = task_of(model_cache.model_of(model).facts) is not None
    kinds = tuple(kind for kind in SOURCE_KINDS if has_task or kind != "task")
    chosen: SourceKind = st.radio(
        say("heads.source", language),
        kinds,
        format_func=lambda name: say(f"heads.source_{name}", language),
        key=f"{_KEY}kind-{'' if has_task else 'own-'}{language}",
    )
    return chosen


def _settings(model: CatalogModel, kind: SourceKind, language: str) -> MeasurementSettings:
    text, seed = "", 0
    with st.container(horizontal=True):
        size = st.number_input(
            say("heads.size", language), 1, measurement_jobs.MOST_SENTENCES, 256, key=f"{_KEY}size"
        )
        if kind == "task":
            seed = st.number_input(say("heads.seed", language), 0, 9999, 0, key=f"{_KEY}seed")
    if kind == "lines":
        label = say("heads.lines", language)
        text = st.text_area(label, key=f"{_KEY}lines", placeholder="\n".join(model.examples[:2]))
    if kind == "pairs":
        text = _pairs(language)
    gradients = st.checkbox(say("heads.with_importance", language), True, key=f"{_KEY}gradients")
    removal = st.checkbox(say("heads.with_removal", language), True, key=f"{_KEY}removal")
    return MeasurementSettings(kind, int(size), int(seed), text, gradients, removal)


def _pairs(language: str) -> str:
    """The sentence pairs of the file uploaded last."""
    label = say("heads.pairs", language)
    file_uploader(label, ("tsv", "txt"), language, _take_pairs, prefix=_KEY, limit_mb=1)
    pairs = heads_state.pairs()
    if pairs.name:
        count = len(pairs.text.splitlines())
        st.caption(literal(say("heads.pairs_taken", language, name=pairs.name, count=count)))
    return pairs.text


def _take_pairs(file_name: str, contents: bytes) -> None:
    """Keep the text of a file, or report why not."""
    name = shorten(file_name)
    try:
        heads_state.set_pairs(EvaluationText(name, contents.decode("utf-8-sig")))
    except UnicodeDecodeError:
        messages.report(FileError("unreadable_file", name=name))


def checkpoint_of(model: CatalogModel) -> Path | bytes:
    """The file of a model, or the contents of one that was uploaded."""
    from explorer.model.checkpoint import to_bytes

    if isinstance(model, UploadedModel):
        return to_bytes(model.model.checkpoint)
    assert isinstance(model, StoredModel)
    return model.path


def _start(model: CatalogModel, settings: MeasurementSettings, language: str) -> None:
    """Start the measurement, or report why not."""
    if not visitor.rights().change:
        return
    try:
        loaded = model_cache.model_of(model)
        measurement_jobs.check(loaded, settings, language)
        digest = experiment_cache.digest(model)
        started = measurement_jobs.start(checkpoint_of(model), loaded.name, settings, digest)
        heads_state.follow_job(started)
    except ExplorerError as error:
        messages.report(error)
