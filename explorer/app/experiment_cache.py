"""Trials: one text with and without interventions, computed once for all visitors.

Nothing stays in the shared model: what is done to it lasts as long as one trace. So a trial is
found again by its request alone, whoever asks.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from explorer.app import model_cache
from explorer.app.permalink import Request
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.data.task_names import task_of
from explorer.heads.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogMember, CatalogModel

if TYPE_CHECKING:
    from explorer.heads.evaluation_batches import EvaluationBatch
    from explorer.model.explorable import ExplorableModel
    from explorer.model.intervention_hooks import Means

SENTENCES = 64
"""On which an effect is measured, spread over the batch, as each head's alone is."""

_BATCH = 256
"""Sentences over which a mean is taken."""


def original(entry: CatalogMember, request: Request) -> Trace:
    """The text without any intervention, decoded freely."""
    return model_cache.trace(entry, replace(request, done=(), forced=()))


def trial(entry: CatalogModel, request: Request) -> TraceComparison:
    """What `request.done` makes of its text. Raises `ExplorerError`."""
    return _tried(entry.stamp, replace(request, forced=()), entry)


def effect(entry: CatalogModel, request: Request) -> tuple[pd.DataFrame, int, str, str]:
    """What `request.done` changes, on how many sentences, of which batch, and where its targets
    are from; see `ablation.effect` and `EvaluationBatch`.

    Cells and rows have places of one text, so only what is done to whole heads is measured.
    """
    lines = tuple(line for line in request.done if line.split()[0] in ("ablate", "keep"))
    return _effect(entry.stamp, lines, entry)


def norms(entry: CatalogModel, request: Request) -> Mapping[str, NDArray[np.float32]]:
    """The value norms of the text by site; see `value_norms.value_norms`."""
    return _norms(entry.stamp, replace(request, done=(), forced=()), entry)


def means_name(entry: CatalogModel) -> str:
    """Over which batch the mean of a head is taken."""
    return _means(entry.stamp, entry).name


@st.cache_resource(max_entries=64, show_spinner=False)
def digest(stamp: str, _entry: CatalogModel) -> str:
    """The fingerprint by which measurements of a model are found."""
    from explorer.heads import measure

    return measure.digest(model_cache.model_of(_entry).transformer)


@st.cache_resource(max_entries=16, show_spinner=False)
def _tried(stamp: str, request: Request, _entry: CatalogModel) -> TraceComparison:
    from explorer.heads.counterfactuals import compare_traces

    model = model_cache.model_of(_entry)
    before = original(_entry, request)
    done = Interventions.parse(request.done)
    means = _means(stamp, _entry) if done.needs_means else None
    with model_cache.TWO_AT_A_TIME:
        changed = model.trace(
            request.text, pad_to=before.facts["pad_to"], means=means, **done.options()
        )
        return compare_traces(model, before, changed, means)


@st.cache_resource(max_entries=64, show_spinner=False)
def _effect(
    stamp: str, lines: tuple[str, ...], _entry: CatalogModel
) -> tuple[pd.DataFrame, int, str, str]:
    from explorer.heads import ablation

    model, done = model_cache.model_of(_entry), Interventions.parse(lines)
    means = _means(stamp, _entry) if done.needs_means else None
    with model_cache.TWO_AT_A_TIME:
        batch = _batch(model, _entry)
        some = batch.first(SENTENCES)
        return ablation.effect(model, some, done, means), len(some), batch.name, batch.targets


@st.cache_resource(max_entries=8, show_spinner=False)
def _norms(stamp: str, request: Request, _entry: CatalogModel) -> Mapping[str, NDArray[np.float32]]:
    from explorer.heads.value_norms import value_norms

    model = model_cache.model_of(_entry)
    pad_to = original(_entry, request).facts["pad_to"]
    with model_cache.TWO_AT_A_TIME:
        return value_norms(model, model.trace(request.text, pad_to=pad_to, capture="full"))


@st.cache_resource(max_entries=8, show_spinner=False)
def _means(stamp: str, _entry: CatalogModel) -> "Means":
    from explorer.heads.counterfactuals import mean_outputs

    model = model_cache.model_of(_entry)
    with model_cache.TWO_AT_A_TIME:
        return mean_outputs(model, _batch(model, _entry))


def _batch(model: "ExplorableModel", entry: CatalogModel) -> "EvaluationBatch":
    """Sentences the model's task makes; of a model without one, those its file brings along and
    those the page offers.

    Raises `InterventionError` when there are none.
    """
    from explorer.heads.evaluation_batches import line_sentences, task_sentences

    if task_of(model.facts) is not None:
        return task_sentences(model, _BATCH)
    stored = model.facts.get("examples")
    listed = stored if isinstance(stored, list) else []
    texts = [text for text in (*listed, *entry.examples) if isinstance(text, str) and text.strip()]
    return line_sentences(model, list(dict.fromkeys(texts))[:_BATCH], f"{model.name}, examples")
