"""The form that builds an index of a model's attention: over which sentences. First it offers the
pairs that ship with the model, new sentences of its task, or its examples."""

from functools import partial

import streamlit as st

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.widgets.job_progress import start_button
from explorer.app.widgets.measurement_form import checkpoint_of
from explorer.app.widgets.sentence_form import (
    Sizes,
    choose_kind,
    choose_size,
    chosen_kind,
    chosen_sentences,
    chosen_size,
    kinds_for,
    sentence_fields,
)
from explorer.core.i18n import say
from explorer.jobs import index_jobs
from explorer.jobs.measurement import QueuedMeasurement
from explorer.jobs.measurement_jobs import Sentences
from explorer.model.catalog import CatalogModel

_KEY = "search-"
_SIZES = Sizes(index_jobs.MOST_SENTENCES, index_jobs.MOST_SENTENCES)


def search_form(model: CatalogModel, language: str) -> None:
    """The form."""
    st.caption(say("heads.search_build_about", language))
    kind = choose_kind(*_kinds(model, language))
    if kind == "shipped":
        choose_size(kind, language, _KEY, _SIZES)
    else:
        sentence_fields(model, kind, language, _KEY, _first_lines(model), _SIZES)
    begin = partial(_begin, model, language)
    start_button(f"{_KEY}start", model, begin, language, label="heads.search_build")


def _begin(model: CatalogModel, language: str, loaded: Model) -> QueuedMeasurement:
    """Start to index the sentences that the fields describe."""
    sentences, name = _chosen(model, language)
    index_jobs.check(loaded, sentences, language)
    digest = model_cache.digest(model)
    return index_jobs.start(checkpoint_of(model), loaded.name, sentences, digest, name)


def _chosen(model: CatalogModel, language: str) -> tuple[Sentences, str]:
    """The sentences that the fields describe, and the name of their file; "" = the visitor's own,
    or new ones of a task."""
    kind = chosen_kind(*_kinds(model, language))
    if kind == "shipped":
        assert model.gold_links is not None
        pairs = Sentences("pairs", chosen_size(_KEY, _SIZES), text=_shipped_pairs(model))
        return pairs, model.gold_links.name
    lines = _first_lines(model)
    sentences = chosen_sentences(model, kind, _KEY, lines, _SIZES)
    if kind != "lines" or sentences.text != lines:
        return sentences, ""
    return sentences, f"{model.label}, examples".replace("/", "-")  # of a file


def _kinds(model: CatalogModel, language: str) -> tuple[tuple[str, ...], str, str]:
    """The arguments of `choose_kind`."""
    if _shipped_pairs(model):
        return ("shipped", *kinds_for(model)), language, f"{_KEY}shipped-"
    return kinds_for(model), language, _KEY


def _shipped_pairs(model: CatalogModel) -> str:
    """The pairs that ship with a model, without their links; "" = none."""
    try:
        text = "" if model.gold_links is None else model.gold_links.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):  # a user's own folder may hold anything
        return ""
    return "\n".join("\t".join(line.split("\t")[:2]) for line in text.splitlines())


def _first_lines(model: CatalogModel) -> str:
    """The initial lines of the form: the model's examples, where nothing else is offered first."""
    first, *_ = _kinds(model, "en")[0]
    return "\n".join(model.examples) if first == "lines" else ""
