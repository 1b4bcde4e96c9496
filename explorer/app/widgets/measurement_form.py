"""The form that starts a measurement of a model's heads: the sentences, and the quantities
measured."""

from functools import partial
from pathlib import Path

import streamlit as st

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.state import session
from explorer.app.widgets.job_progress import start_button
from explorer.app.widgets.sentence_form import (
    choose_kind,
    chosen_kind,
    chosen_sentences,
    kinds_for,
    sentence_fields,
)
from explorer.core.i18n import say
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement import QueuedMeasurement
from explorer.jobs.measurement_jobs import MeasurementSettings
from explorer.model.catalog import CatalogModel

_KEY = "measure-"


def measurement_form(model: CatalogModel, language: str) -> None:
    """The form."""
    st.caption(say("heads.measure_about", language))
    _fields(model, language)
    start_button(f"{_KEY}start", model, partial(_begin, model, language), language)


def _fields(model: CatalogModel, language: str) -> None:
    kind = choose_kind(kinds_for(model), language, _KEY)
    sentence_fields(model, kind, language, _KEY)
    why = why_no_removal(model, language)
    for name, key in (("with_importance", "gradients"), ("with_removal", "removal")):
        text, key = say(f"heads.{name}", language), f"{_KEY}{key}"
        st.checkbox(text, why is None, key=key, disabled=why is not None, help=why)


def _chosen(model: CatalogModel, language: str) -> MeasurementSettings:
    """The settings in the form's fields."""
    kind = chosen_kind(kinds_for(model), language, _KEY)
    sentences = chosen_sentences(model, kind, _KEY)
    has_loss = why_no_removal(model, language) is None
    gradients = has_loss and bool(session.widget_value(f"{_KEY}gradients", True))
    removal = has_loss and bool(session.widget_value(f"{_KEY}removal", True))
    return MeasurementSettings(
        sentences.kind, sentences.size, sentences.seed, sentences.text, gradients, removal
    )


def why_no_removal(model: CatalogModel, language: str) -> str | None:
    """Reason why texts without labels give no importance and no removal, or None if they do."""
    opened = model_cache.model_of(model)
    if opened.facts.get("weights_only"):
        return say("errors.weights_only", language, family=opened.facts.get("family"))
    if not opened.passes.predicts_tokens:
        return say("heads.nothing_predicted", language)
    return None


def checkpoint_of(model: CatalogModel) -> Path | bytes:
    """The file of a model, or the contents of one that was uploaded."""
    from explorer.model.checkpoint import to_bytes

    return model.path if model.can_share else to_bytes(model.model.checkpoint)


def _begin(model: CatalogModel, language: str, loaded: Model) -> QueuedMeasurement:
    """Start the measurement that the fields describe."""
    settings = _chosen(model, language)
    measurement_jobs.check(loaded, settings, language)
    digest = model_cache.digest(model)
    return measurement_jobs.start(checkpoint_of(model), loaded.name, settings, digest)
