"""The form that starts a measurement of a model's heads: on which sentences, and of what."""

from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st

from explorer.app import experiment_cache, model_cache
from explorer.app.state import heads as heads_state
from explorer.app.state import messages, visitor
from explorer.app.widgets.sentence_form import choose_kind, kinds_for, sentence_fields
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.heads import measurement_jobs
from explorer.heads.measurement_jobs import MeasurementSettings, SourceKind
from explorer.model.catalog import CatalogModel, StoredModel, UploadedModel
from explorer.model.model_directory import DirectoryModel

_KEY = "measure-"


def measurement_form(model: CatalogModel, language: str) -> None:
    """The form; in class mode, for guests, one sentence instead."""
    if not visitor.rights().change:
        st.caption(say("heads.measure_host_only", language))
        return
    st.caption(say("heads.measure_about", language))
    settings = _settings(model, language)
    st.button(
        say("heads.start", language),
        key=f"{_KEY}start",
        type="primary",
        on_click=partial(_start, model, settings, language),
    )


def _settings(model: CatalogModel, language: str) -> MeasurementSettings:
    kind = cast(SourceKind, choose_kind(kinds_for(model), language, _KEY))
    sentences = sentence_fields(model, kind, language, _KEY)
    gradients = st.checkbox(say("heads.with_importance", language), True, key=f"{_KEY}gradients")
    removal = st.checkbox(say("heads.with_removal", language), True, key=f"{_KEY}removal")
    bleu = removal and kind == "pairs" and _choose_bleu(model, language)
    return MeasurementSettings(
        sentences.kind, sentences.size, sentences.seed, sentences.text, gradients, removal, bleu
    )


def _choose_bleu(model: CatalogModel, language: str) -> bool:
    """Whether BLEU is measured as well, of a translator trained here."""
    if isinstance(model, DirectoryModel) or "task" in kinds_for(model):
        return False
    return st.checkbox(
        say("heads.with_bleu", language),
        key=f"{_KEY}bleu",
        help=say("heads.with_bleu_title", language, count=measurement_jobs.REMOVED_ON),
    )


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
