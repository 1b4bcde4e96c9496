"""Effect of the interventions in force: the output in words, and token by token."""

import streamlit as st

from explorer.app import experiment_cache
from explorer.app.state import visit as visit_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.changed_prediction import prediction_sentence
from explorer.app.widgets.head_table_columns import columns, written
from explorer.app.widgets.messages import literal, show_error
from explorer.components.labels import batch_name
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.number_format import fixed_number, short_number
from explorer.core.vocabulary import shown_label
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogModel


def summary(model: CatalogModel, compared: TraceComparison, language: str) -> None:
    """Draw the change of the output in one line and, when asked, over many sentences."""
    interventions = visit_state.current().request.interventions
    lines = [output_sentence(compared, language)]
    if interventions.needs_mean_outputs:
        batch = batch_name(experiment_cache.means_batch(model), language)
        lines.append(say("heads.means_over", language, batch=batch))
    if any(cell.open and cell.site == "decoder" for cell in interventions.edit_mask):
        lines.append(say("heads.counterfactual", language))
    with st.container(
        key="experiment-summary", horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.markdown(literal(" ".join(lines)))
        if interventions.on_heads:
            _effect(model, interventions, language)


def output_sentence(compared: TraceComparison, language: str) -> str:
    """The effect of the interventions on the output."""
    if not compared.has_output:
        predicted = prediction_sentence(compared.original, compared.changed, language)
        return predicted or say("heads.no_output", language)
    steps = compared.steps
    facts = {
        "change": fixed_number(compared.log_probability, 3, signed=True),
        "factor": short_number(compared.factor),
        "count": int((~steps.same).sum()),
        "steps": len(steps),
    }
    key = "same_output" if compared.same_text else "other_output"
    return say(f"heads.{key}{'_as_sure' if compared.as_sure else ''}", language, **facts)


def steps_table(compared: TraceComparison, language: str) -> None:
    """The tokens without and with the interventions, and their probabilities."""
    labels = {name: compared.steps[name].map(shown_label) for name in ("original", "changed")}
    table = compared.steps.assign(**labels)
    st.caption(say("heads.steps", language))
    st.dataframe(
        written(table),
        column_config=columns(table, language, "step"),
        hide_index=True,
        key="steps",
        placeholder="–",
    )


def _effect(model: CatalogModel, interventions: Interventions, language: str) -> None:
    """A button that measures the removed heads on an evaluation batch."""
    if not st.button(say("heads.effect_ask", language), key="effect"):
        return
    try:
        effect = experiment_cache.effect(model, interventions)
    except ExplorerError as error:
        show_error(error, language)
        return
    lines = [head_tables.effect_text(effect, language)]
    if interventions.on_cells:
        lines.append(say("heads.effect_heads_alone", language))
    st.markdown(literal(" ".join(lines)))
