"""The picture of the trainings that guests of a class share, on the host's page Train."""

from collections.abc import Sequence

import streamlit as st

from explorer.app import mount
from explorer.app.server import class_route
from explorer.app.widgets.head_tables import head_name, site_name
from explorer.app.widgets.messages import literal
from explorer.components.chart_payload import chart_payload
from explorer.components.class_curves_figure import Group, class_chart, grouped, heads_of
from explorer.core.i18n import in_a_row, say


def class_curves(language: str) -> None:
    """Their curves in one chart, and how often each head is the sharpest one; nothing while nobody
    shares."""
    curves = list(class_route.session.curves.values())
    if not curves:
        return
    groups = grouped(curves)
    title = say("train.class_curves", language, count=len(curves))
    lines = say("train.class_lines", language)
    payload = chart_payload(
        class_chart(groups, language),
        name=say("train.class_chart", language, count=len(curves)),
        title=title,
        captions=[lines],
        file_name="class-curves",
        language=language,
    )
    with st.expander(title, key="class-curves"):
        mount.chart("class-chart", payload)
        st.markdown(_table(groups, heads_of(curves), language))
        about = in_a_row([lines, say("train.class_heads", language)], language)
        st.caption(literal(about))
        st.button(
            say("train.class_clear", language),
            key="clear-class-curves",
            help=say("train.class_clear_help", language),
            on_click=class_route.session.clear_curves,
        )


def _table(groups: Sequence[Group], heads: Sequence[tuple[int, int]], language: str) -> str:
    """In Markdown: a group a row, a head a column."""
    titles = [
        say("train.class_task", language),
        say("train.class_attention", language),
        *(head_name(*head) for head in heads),
        say("train.class_none", language),
        say("train.class_unfinished", language),
    ]
    rows = [_row(titles), "|" + " --- |" * len(titles)]
    for group in groups:
        formed, finished = group.formed(), len(group.finished)
        counts = [
            say("train.class_count", language, count=formed[head], all=finished)
            for head in (*heads, None)
        ]
        names = group.name(language), site_name(group.site, language)
        rows.append(_row([*names, *counts, str(len(group.curves) - finished)]))
    return "\n".join(rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(literal, cells))} |"
