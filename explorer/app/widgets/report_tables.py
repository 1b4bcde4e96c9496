"""The sections of Heads that show a head report: metrics, roles, and removal of heads."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from explorer.app import mount
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.head_table_columns import columns, role_columns, written
from explorer.app.widgets.messages import literal
from explorer.components.chart_payload import chart_payload
from explorer.components.labels import batch_name
from explorer.components.offset_figure import offset_chart, offset_shares
from explorer.core.i18n import say
from explorer.core.i18n import table as strings
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.roles.role_names import sentence_of
from explorer.heads.roles.roles import ROLES

_FAINT = "color: #808080"
"""Style of the nearest role of a head that has none, legible on light and dark pages."""

_FEW_ROWS = 12
"""A table of so many rows is shorter than the rest of a usual window."""


def metrics(report: HeadReport, language: str) -> None:
    """Every metric: by layer and head, and as a table."""
    table = head_tables.metrics(report, language)
    _about(report, metric_words(table), "heads.metric_words", language)
    batch = batch_name(report.facts["batch"], language)
    mount.metric_matrix(report, batch, language, heads_state.read_view)
    _draw(written(table), columns(table, language), "metrics-table")


def roles(report: HeadReport, language: str) -> None:
    """Draw the roles of each head, and the evidence for one of them."""
    scores, evidence = st.columns([11, 8], gap="medium")
    with scores:
        row = _role_scores(report, language)
    with evidence:
        _role_evidence(report, row, language)
    words = [sentence_of(role, report.facts["targets"]) for role in ROLES]
    _about(report, words, "heads.role_words", language)


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


def _draw(table: Styler, column_config: dict[str, Any], key: str, **options: Any) -> Any:
    """Draw a table of heads: a long one takes the rest of the window, a short one ends with its
    rows. Returns what `st.dataframe` returns."""
    is_short = len(table.index) <= _FEW_ROWS
    with st.container() if is_short else nullcontext():  # main.css stretches what is in none
        return st.dataframe(
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
        mount.words(words, say(label, language), language)
        st.caption(literal(f"{head_tables.batch_text(report, language)} {more}".strip()))


def _role_scores(report: HeadReport, language: str) -> int:
    """Draw the table of role scores. Returns the number of the chosen row, by default that of the
    selected head."""
    table = head_tables.roles(report, language)
    without = ~report.has_role()
    faint = written(table).map(lambda _: _FAINT, subset=(table.index[without], ["roles"]))
    selection: dict[str, Any] = {"on_select": "rerun", "selection_mode": "single-row"}
    chosen = _draw(faint, role_columns(table, report, language), "roles-table", **selection)
    rows = chosen["selection"]["rows"]
    if rows and 0 <= rows[0] < len(table):
        return int(rows[0])
    now = visit_state.current().selection
    return head_tables.row_of(report, now.site, now.layer, now.head)


def _role_evidence(report: HeadReport, row: int, language: str) -> None:
    site, layer, head = head_tables.key_of(report, row)
    name = f"{head_tables.site_name(site, language)} {head_tables.head_name(layer, head)}"
    own = report.role_text(site, layer, head, language)
    st.markdown(f"**{literal(say('heads.role_of', language, head=name, roles=own))}**")
    table = head_tables.evidence(report, site, layer, head, language)
    st.dataframe(
        written(table),
        column_config=columns(table, language),
        hide_index=True,
        key="evidence-table",
        placeholder="–",
    )
    _offset_chart(report, (site, layer, head), name, language)
    for sentence in head_tables.impossible(report, site, layer, head, language):
        st.caption(literal(sentence))
    for sentence in head_tables.confounds(report, site, language):
        st.caption(literal(sentence))
    for role, names in head_tables.heads_by_role(report, site, language).items():
        facts = {"role": role, "count": len(names), "heads": head_tables.listed(names, language)}
        st.caption(literal(say("heads.head_list", language, **facts)))


def _offset_chart(report: HeadReport, key: tuple[str, int, int], name: str, language: str) -> None:
    """Draw the share of the largest weights at each offset as bars, and the chance level as a line
    across each."""
    about = say("heads.offsets_of", language, head=name)
    st.caption(literal(about))
    model = report.facts["model"]
    payload = chart_payload(
        offset_chart(offset_shares(report, *key), language),
        name=about,
        title=f"{model} · {name}",
        captions=[f"{about} {head_tables.measured_on(report, language)}"],
        file_name=f"offsets-{model}-{name}".replace(" ", "-").replace("/", "-"),
        language=language,
    )
    mount.chart("offset-chart", payload)
