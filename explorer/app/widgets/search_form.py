"""The form that builds an index of a model's attention: over which sentences."""

from functools import partial

import streamlit as st

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.widgets.job_progress import start_button
from explorer.app.widgets.measurement_form import checkpoint_of
from explorer.app.widgets.sentence_choice import choose_sentences, chosen
from explorer.app.widgets.sentence_form import Sizes
from explorer.core.i18n import say
from explorer.jobs import index_jobs
from explorer.jobs.measurement import QueuedMeasurement
from explorer.model.catalog import CatalogModel

_KEY = "search-"
_SIZES = Sizes(index_jobs.MOST_SENTENCES, index_jobs.MOST_SENTENCES)


def search_form(model: CatalogModel, language: str) -> None:
    """The form."""
    st.caption(say("heads.search_build_about", language))
    choose_sentences(model, language, _KEY, _SIZES)
    begin = partial(_begin, model, language)
    start_button(f"{_KEY}start", model, begin, language, label="heads.search_build")


def _begin(model: CatalogModel, language: str, loaded: Model) -> QueuedMeasurement:
    """Start to index the sentences that the fields describe."""
    named = chosen(model, language, _KEY, _SIZES)
    index_jobs.check(loaded, named.sentences, language)
    digest = model_cache.digest(model)
    given = (checkpoint_of(model), loaded.name, named.sentences, digest, named.name)
    return index_jobs.start(*given)
