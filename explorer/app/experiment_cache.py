"""Traces under interventions and data about them, computed once for all visitors.

An intervention lasts as long as one trace and leaves nothing in the shared model, so a result
depends on the request alone, not on the visitor.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from explorer.app import model_cache
from explorer.core.interventions import Interventions
from explorer.core.look import Request
from explorer.data.task_names import task_of
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.metrics import batch_names
from explorer.model.catalog import CatalogModel

if TYPE_CHECKING:
    from explorer.model.evaluation_batch import EvaluationBatch
    from explorer.model.head_gates import MeanOutputs
    from explorer.model.measurable import MeasurableModel

EFFECT_SENTENCES = 64
"""Sentences of the batch for measuring an effect, as many as reports use for single heads."""

_BATCH = 256
"""Sentences that a mean is taken over."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredEffect:
    """Effect of removing heads, measured on an evaluation batch.

    table: see `ablation.effect`.
    sentences: number of sentences it was measured on.
    batch, targets: see `EvaluationBatch`.
    """

    table: pd.DataFrame
    sentences: int
    batch: str
    targets: str


def experiment(
    member: CatalogModel, request: Request, interventions: Interventions
) -> TraceComparison:
    """The text without and with `interventions`. Raises `ExplorerError`."""
    free = request.without_forced()
    key = ("experiment", member.stamp, free, interventions)
    return model_cache.kept(key, lambda: _experiment(member, free, interventions), bytes_of)


def bytes_of(compared: TraceComparison) -> int:
    """Bytes of a comparison in memory, roughly."""
    traces = (compared.original, compared.changed, compared.forced)
    return sum(map(model_cache.trace_bytes, traces))


def effect(member: CatalogModel, interventions: Interventions) -> MeasuredEffect:
    """Effect of `interventions`, measured on an evaluation batch.

    Cells and rows are at positions of one text, so only removed heads are applied.
    """
    return _effect(member.stamp, interventions.on_heads, member)


def norms(member: CatalogModel, request: Request) -> Mapping[str, NDArray[np.float32]]:
    """The value norms of the text by site; see `value_norms.value_norms`."""
    free = request.without_forced()
    key = ("norms", member.stamp, free)
    return model_cache.kept(
        key, lambda: _norms(member, free), lambda norms: sum(own.nbytes for own in norms.values())
    )


def means_batch(member: CatalogModel) -> str:
    """Name of the batch that the mean of a head is taken over."""
    return _mean_outputs(member.stamp, member).name


def _experiment(
    member: CatalogModel, request: Request, interventions: Interventions
) -> TraceComparison:
    from explorer.heads.removal.counterfactuals import compare_traces

    model = model_cache.model_of(member)
    before = model_cache.greedy_trace(member, request)
    means = _mean_outputs(member.stamp, member) if interventions.needs_mean_outputs else None
    with model_cache.computing():
        changed = model.trace(
            **request.given,
            pad_to=before.facts["pad_to"],
            means=means,
            **interventions.options(),
        )
        return compare_traces(model, before, changed, means)


def _norms(member: CatalogModel, request: Request) -> Mapping[str, NDArray[np.float32]]:
    from explorer.heads.contributions.value_norms import value_norms

    model = model_cache.model_of(member)
    pad_to = model_cache.greedy_trace(member, request).facts["pad_to"]
    with model_cache.computing():
        full = model.trace(**request.given, pad_to=pad_to, capture="full")
        return value_norms(model, full)


@st.cache_resource(max_entries=64, show_spinner=False)
def _effect(stamp: str, interventions: Interventions, _member: CatalogModel) -> MeasuredEffect:
    from explorer.heads.removal import ablation

    model = model_cache.model_of(_member)
    means = _mean_outputs(stamp, _member) if interventions.needs_mean_outputs else None
    with model_cache.computing():
        batch = _batch(model, _member)
        some = batch.first(EFFECT_SENTENCES)
        table = ablation.effect(model, some, interventions, means)
        return MeasuredEffect(table, len(some), batch.name, batch.targets)


@st.cache_resource(max_entries=8, show_spinner=False)
def _mean_outputs(stamp: str, _member: CatalogModel) -> "MeanOutputs":
    from explorer.heads.removal.counterfactuals import mean_outputs

    model = model_cache.model_of(_member)
    with model_cache.computing():
        return mean_outputs(model, _batch(model, _member))


def _batch(model: "MeasurableModel", member: CatalogModel) -> "EvaluationBatch":
    """Sentences generated by the model's task. Without a task: those stored in its checkpoint and
    those the page offers.

    Raises `EvaluationBatchError` if there are none.
    """
    from explorer.heads.metrics.evaluation_batches import task_sentences

    if task_of(model.facts) is not None:
        return task_sentences(model, _BATCH)
    stored = model.facts.get("examples")
    listed = stored if isinstance(stored, list) else []
    texts = [text for text in (*listed, *member.examples) if isinstance(text, str) and text.strip()]
    name = batch_names.written("examples", name=model.name)
    return model.passes.texts(list(dict.fromkeys(texts))[:_BATCH], name)
