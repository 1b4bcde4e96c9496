"""The form that starts measuring pruning curves: in which orders, and on which sentences."""

from dataclasses import replace
from functools import partial

import streamlit as st

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.state import measurements, session
from explorer.app.widgets.alignment_form import shipped_gold
from explorer.app.widgets.job_progress import start_button
from explorer.app.widgets.measurement_form import checkpoint_of
from explorer.app.widgets.messages import literal
from explorer.app.widgets.sentence_form import (
    choose_kind,
    choose_size,
    chosen_kind,
    chosen_sentences,
    chosen_size,
    kinds_for,
    sentence_fields,
)
from explorer.components.pruning_figure import order_name
from explorer.core.i18n import say
from explorer.heads.pruning.pruning_report import ORDERS
from explorer.jobs import pruning_jobs
from explorer.jobs.measurement import QueuedMeasurement
from explorer.jobs.measurement_jobs import Sentences
from explorer.jobs.pruning_jobs import PruningSettings
from explorer.model.catalog import CatalogModel

DEFAULT_ORDERS = ("importance", "random")

_KEY = "prune-"


def pruning_form(model: CatalogModel, language: str) -> None:
    """The form."""
    st.multiselect(
        say("pruning.orders", language),
        ORDERS,
        DEFAULT_ORDERS,
        format_func=lambda name: order_name(name, language),
        help="  \n".join(literal(say(f"pruning.order_{one}_about", language)) for one in ORDERS),
        placeholder="",
        key=_orders_key(language),
    )
    kind = choose_kind(*_kinds(model, language))
    if kind == "shipped":
        choose_size(language, _KEY)
    else:
        sentence_fields(model, kind, language, _KEY, _first_lines(model))
    start_button(f"{_KEY}start", model, partial(begin, model, language), language)


def _chosen(model: CatalogModel, language: str) -> PruningSettings:
    """The settings in the form's fields."""
    defaults = default_settings(model)
    chosen = session.widget_value(_orders_key(language), DEFAULT_ORDERS)
    orders = tuple(one for one in ORDERS if one in chosen)
    kind = chosen_kind(*_kinds(model, language))
    if kind == "shipped":
        sentences = replace(defaults.sentences, size=chosen_size(_KEY))
        return PruningSettings(sentences, orders, defaults.name)
    lines = _first_lines(model)
    sentences = chosen_sentences(model, kind, _KEY, lines)
    unchanged = sentences.text == lines and kind == "lines"
    return PruningSettings(sentences, orders, defaults.name if unchanged else "")


def _orders_key(language: str) -> str:
    return f"{_KEY}orders-{language}"


def _kinds(model: CatalogModel, language: str) -> tuple[tuple[str, ...], str, str]:
    """The arguments of `choose_kind`."""
    if default_kind(model) == "shipped":
        return ("shipped", *kinds_for(model)), language, f"{_KEY}shipped-"
    return kinds_for(model), language, _KEY


def _first_lines(model: CatalogModel) -> str:
    """The initial lines of the form."""
    return default_settings(model).sentences.text if default_kind(model) == "lines" else ""


def default_settings(model: CatalogModel) -> PruningSettings:
    """Importance and random orders on sentences of the model's task, on the pairs that ship with
    it, or on its examples."""
    if (gold := shipped_gold(model)) is not None:
        rows = (line.split("\t")[:2] for line in gold.data.decode("utf-8-sig").splitlines())
        pairs = Sentences("pairs", text="\n".join("\t".join(row) for row in rows))
        return PruningSettings(pairs, DEFAULT_ORDERS, gold.name)
    if default_kind(model) == "task":
        return PruningSettings(Sentences(), DEFAULT_ORDERS)
    name = f"{model.label}, examples".replace("/", "-")  # of a file
    return PruningSettings(Sentences("lines", text="\n".join(model.examples)), DEFAULT_ORDERS, name)


def default_kind(model: CatalogModel) -> str:
    """The kind of the sentences of `default_settings`: "shipped", "task" or "lines"."""
    if shipped_gold(model) is not None:
        return "shipped"
    return "task" if "task" in kinds_for(model) else "lines"


def begin(
    model: CatalogModel, language: str, loaded: Model, settings: PruningSettings | None = None
) -> QueuedMeasurement:
    """Start the job of these settings, or that the fields describe, and show its curves."""
    settings = settings or _chosen(model, language)
    pruning_jobs.check(loaded, settings, language)
    digest = model_cache.digest(model)
    started = pruning_jobs.start(checkpoint_of(model), loaded.name, settings, digest)
    measurements.show_result(started.job)
    return started
