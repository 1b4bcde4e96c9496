"""The sections of Heads that show a head report: measurements, and heads removed."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from explorer.app import mount
from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.head_table_columns import columns, written
from explorer.app.widgets.messages import literal
from explorer.components.chart_payload import chart_payload
from explorer.components.labels import batch_name
from explorer.components.offset_figure import offset_chart, offset_shares
from explorer.core.i18n import say
from explorer.core.i18n import table as strings
from explorer.core.sites import Head
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.roles.role_names import sentence_of
from explorer.heads.roles.roles import ROLES

_FAINT = "color: #808080"
"""Style of the nearest role of a head that has none, legible on light and dark pages."""

_SELECTED = "background-color: #80808033"
"""Style of the head whose evidence is beside the table."""

_FEW_ROWS = 12
"""A table of so many rows is shorter than the rest of a usual window."""


def metrics(report: HeadReport, language: str) -> None:
    """Draw every metric: by layer and head, and as a table with the roles; beside it the evidence
    for the role of the selected head."""
    table = head_tables.metrics(report, language)
    roles = [sentence_of(role, report.facts["targets"]) for role in ROLES]
    _about(report, [*metric_words(table), *roles], "heads.metric_words", language)
    batch = batch_name(report.facts["batch"], language)
    mount.metric_matrix(report, batch, language, heads_state.read_view)
    head = visit_state.current().selection.named_head
    if head is None or not report.role_rows(*head):
        st.caption(literal(say("heads.choose_row", language)))
        _metric_table(report, table, language, None)
        return
    metrics, evidence = st.columns([11, 8], gap="medium")
    with metrics:
        _metric_table(report, table, language, head)
    with evidence:
        _role_evidence(report, head, language)


def removal(report: HeadReport, language: str) -> None:
    """Draw attention, importance and effect side by side, and how much heads replace each other."""
    if not report.facts.get("ablation"):
        st.info(say("heads.no_removal", language))
        return
    for sentence in head_tables.redundancy(report, language):
        st.markdown(literal(sentence))
    table = head_tables.effects(report, language)
    _draw(written(table), columns(table, language), "effects-table")
    more = head_tables.unchanged_text(report, language)
    _about(report, metric_words(table), "heads.metric_words", language, more)


def metric_words(table: pd.DataFrame) -> list[str]:
    """The sentences of the metrics in a table, without their intervals."""
    names = (f"metric_{name}" for name in table)
    return [name for name in names if f"{name}_title" in strings()["heads"]]


def _draw(table: Styler, column_config: dict[str, Any], key: str, **options: Any) -> None:
    """Draw a table of heads: a long one takes the rest of the window, a short one ends with its
    rows."""
    is_short = len(table.index) <= _FEW_ROWS
    with st.container() if is_short else nullcontext():  # main.css stretches what is in none
        st.dataframe(
            table,
            column_config=column_config,
            hide_index=True,
            key=key,
            placeholder="–",
            height="content" if is_short else "stretch",
            **options,
        )


def _about(
    report: HeadReport, words: Sequence[str], label: str, language: str, more: str = ""
) -> None:
    """Draw the batches that a table was measured on, what more it needs, and a `?` that explains
    its numbers."""
    with st.container(key="about-table", horizontal=True, vertical_alignment="center", gap="small"):
        mount.words(words, say(label, language), report.facts["targets"], language)
        st.caption(literal(f"{head_tables.batch_text(report, language)} {more}".strip()))


def _metric_table(
    report: HeadReport, table: pd.DataFrame, language: str, selected: Head | None
) -> None:
    """Draw the table of metrics; a head without a role is faint, the `selected` one has a ground,
    and a chosen row selects its head."""
    without = table.index[~report.has_role()]
    faint = written(table).map(lambda _: _FAINT, subset=(without, ["roles"]))
    own = [row for row in table.index if head_tables.head_of(report, row) == selected]
    faint = faint.map(lambda _: _SELECTED, subset=(own, table.columns))
    key = "metrics-table"
    _draw(
        faint,
        columns(table, language),
        key,
        on_select=partial(_select_row, report, key),
        selection_mode="single-row",
    )


def _select_row(report: HeadReport, key: str) -> None:
    """Select the head of the chosen row of a table."""
    for row in session.widget_value(key)["selection"]["rows"]:
        now = visit_state.current().selection
        visit_state.select(replace(now, **head_tables.head_of(report, row)._asdict()))


def _role_evidence(report: HeadReport, head: Head, language: str) -> None:
    name = f"{head_tables.site_name(head.site, language)} "
    name += head_tables.head_name(head.layer, head.head)
    own = report.role_caption(*head, language)
    st.markdown(f"**{literal(say('heads.role_of', language, head=name, roles=own))}**")
    table = head_tables.evidence(report, *head, language)
    st.dataframe(
        written(table),
        column_config=columns(table, language),
        hide_index=True,
        key="evidence-table",
        placeholder="–",
    )
    _offset_chart(report, head, name, language)
    for sentence in head_tables.impossible(report, *head, language):
        st.caption(literal(sentence))
    for sentence in head_tables.confounds(report, head.site, language):
        st.caption(literal(sentence))
    for role, names in head_tables.heads_by_role(report, head.site, language).items():
        facts = {"role": role, "count": len(names), "heads": head_tables.listed(names, language)}
        st.caption(literal(say("heads.head_list", language, **facts)))


def _offset_chart(report: HeadReport, head: Head, name: str, language: str) -> None:
    """Draw the share of the largest weights at each offset as bars, and the chance level as a line
    across each."""
    about = say("heads.offsets_of", language, head=name)
    st.caption(literal(about))
    model = report.facts["model"]
    payload = chart_payload(
        offset_chart(offset_shares(report, *head), language),
        name=about,
        title=f"{model} · {name}",
        captions=[f"{about} {head_tables.measured_on(report, language)}"],
        file_name=f"offsets-{model}-{name}".replace(" ", "-").replace("/", "-"),
        language=language,
    )
    mount.chart("offset-chart", payload)
