"""The form that compares a model's heads with gold links: those that ship with it, or a file."""

from functools import partial

import streamlit as st

from explorer.app import model_cache
from explorer.app.model_cache import Model
from explorer.app.state import measurements, session
from explorer.app.widgets.file_uploader import file_uploader
from explorer.app.widgets.job_progress import start_button
from explorer.app.widgets.measurement_form import checkpoint_of
from explorer.app.widgets.messages import literal
from explorer.core.errors import AlignmentError, ExplorerError
from explorer.core.i18n import say
from explorer.jobs import alignment_jobs
from explorer.jobs.alignment_jobs import GoldTable
from explorer.jobs.measurement import QueuedMeasurement
from explorer.model.catalog import CatalogModel

_KEY = "align-"
_LARGEST_MB = 1


def alignment_form(model: CatalogModel, language: str) -> None:
    """The form."""
    kinds, key = _kinds(model, language)
    kind = st.radio(
        say("heads.align_source", language),
        kinds,
        format_func=lambda name: say(f"heads.align_source_{name}", language),
        key=key,
    )
    gold = shipped_gold(model) if kind == "shipped" else _uploaded(language)
    begin = partial(_begin, model, language)
    start_button(f"{_KEY}start", model, begin, language, disabled=gold is None)


def shipped_gold(model: CatalogModel) -> GoldTable | None:
    """The gold links that ship with a model."""
    path = model.gold_links
    if path is None or not path.is_file():
        return None
    try:
        return GoldTable.of(path.name, path.read_bytes())
    except (OSError, ExplorerError):  # a user's own folder may hold anything
        return None


def _kinds(model: CatalogModel, language: str) -> tuple[tuple[str, ...], str]:
    """The kinds of gold links, and the key of the field in which one is chosen."""
    kinds = ("shipped", "file") if shipped_gold(model) is not None else ("file",)
    return kinds, f"{_KEY}kind-{len(kinds)}-{language}"


def _chosen(model: CatalogModel, language: str) -> GoldTable | None:
    """The links selected in the form."""
    kinds, key = _kinds(model, language)
    shipped = session.widget_value(key, kinds[0]) == "shipped"
    return shipped_gold(model) if shipped else measurements.current().gold


def _uploaded(language: str) -> GoldTable | None:
    """The file uploaded last."""
    st.caption(literal(say("heads.align_file_about", language)))
    label = say("heads.align_file", language)
    endings = ("tsv", "csv", "txt")
    file_uploader(label, endings, language, _take, prefix=_KEY, limit_mb=_LARGEST_MB)
    gold = measurements.current().gold
    if gold is not None:
        kind = "columns" if gold.has_tokens else "whitespace"
        facts = {"name": gold.name, "tokens": say(f"heads.align_tokens_{kind}", language)}
        st.caption(literal(say("heads.align_file_taken", language, **facts)))
    return gold


def _take(file_name: str, contents: bytes) -> None:
    """Keep an uploaded file. Raises `ExplorerError` on one that is refused."""
    measurements.set_gold(GoldTable.of(file_name, contents))


def _begin(model: CatalogModel, language: str, loaded: Model) -> QueuedMeasurement | None:
    """Start the comparison with the selected links; None if there are none."""
    gold = _chosen(model, language)
    if gold is None:
        return None
    given = alignment_jobs.check(loaded, gold)
    if 2 * sum(model.reads(pair.source) for pair in given.pairs) < len(given.pairs):
        raise AlignmentError("other_script", name=gold.name, model=model.label)
    digest = model_cache.digest(model)
    return alignment_jobs.start(checkpoint_of(model), loaded.name, gold, digest)
