"""Traces under interventions and data about them, computed once for all visitors.

An intervention lasts as long as one trace and leaves nothing in the shared model, so a result
depends on the request alone, not on the visitor.
"""

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from explorer.app import model_cache
from explorer.core.interventions import Interventions
from explorer.core.look import Request
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogModel

EFFECT_SENTENCES = 64
"""Sentences of the batch for measuring an effect, as many as reports use for single heads."""


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
    changed = replace(request.unchanged(), interventions=interventions)
    key = ("experiment", member.stamp, changed)
    return model_cache.kept_comparison(key, lambda: _experiment(member, changed))


def effect(member: CatalogModel, interventions: Interventions) -> MeasuredEffect:
    """Effect of `interventions`, measured on an evaluation batch.

    Cells and rows are at positions of one text, so only removed heads are applied.
    """
    return _effect(member.stamp, interventions.on_heads, member)


def means_batch(member: CatalogModel) -> str:
    """Name of the batch that the mean of a head is taken over."""
    return model_cache.mean_outputs(member.stamp, member).name


def _experiment(member: CatalogModel, request: Request) -> TraceComparison:
    from explorer.heads.removal.counterfactuals import compare_traces

    model = model_cache.model_of(member)
    before = model_cache.greedy_trace(member, request)
    changed = model_cache.trace(member, request)
    means = model_cache.means_for(member, request.interventions)
    with model_cache.computing():
        return compare_traces(model, before, changed, means)


@st.cache_resource(max_entries=64, show_spinner=False)
def _effect(stamp: str, interventions: Interventions, _member: CatalogModel) -> MeasuredEffect:
    from explorer.heads.removal import ablation

    model = model_cache.model_of(_member)
    means = model_cache.means_for(_member, interventions)
    with model_cache.computing():
        batch = model_cache.evaluation_batch(model, _member)
        some = batch.first(EFFECT_SENTENCES)
        table = ablation.effect(model, some, interventions, means)
        return MeasuredEffect(table, len(some), batch.name, batch.targets)
