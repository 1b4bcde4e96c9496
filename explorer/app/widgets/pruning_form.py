"""The form that starts measuring pruning curves: in which orders, and on which sentences."""

from functools import partial

import streamlit as st

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.state import measurements, session
from explorer.app.widgets.job_progress import start_button
from explorer.app.widgets.measurement_form import checkpoint_of
from explorer.app.widgets.messages import literal
from explorer.app.widgets.sentence_choice import (
    NamedSentences,
    choose_sentences,
    chosen,
    default_sentences,
)
from explorer.components.pruning_figure import order_name
from explorer.core.i18n import say
from explorer.heads.pruning.pruning_report import ORDERS
from explorer.jobs import pruning_jobs
from explorer.jobs.measurement import QueuedMeasurement
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
    choose_sentences(model, language, _KEY)
    start_button(f"{_KEY}start", model, partial(begin, model, language), language)


def _chosen(model: CatalogModel, language: str) -> PruningSettings:
    """The settings in the form's fields."""
    ticked = session.widget_value(_orders_key(language), DEFAULT_ORDERS)
    orders = tuple(one for one in ORDERS if one in ticked)
    return _settings(chosen(model, language, _KEY), orders)


def _orders_key(language: str) -> str:
    return f"{_KEY}orders-{language}"


def default_settings(model: CatalogModel) -> PruningSettings:
    """Importance and random orders on `default_sentences`."""
    return _settings(default_sentences(model), DEFAULT_ORDERS)


def _settings(named: NamedSentences, orders: tuple[str, ...]) -> PruningSettings:
    return PruningSettings(named.sentences, orders, named.name)


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
