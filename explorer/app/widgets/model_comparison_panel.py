"""The section of Heads that compares two models: which one, what it says by itself, and the heads
that are matched as a table."""

import math
from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from explorer.app.state import heads as heads_state
from explorer.app.state import session, visitor
from explorer.app.widgets import head_tables
from explorer.app.widgets.head_table_columns import columns, written
from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.core.number_format import short_number, signed_number
from explorer.heads.trace_comparison import TraceComparison
from explorer.model import catalog
from explorer.model.catalog import CatalogModel


def choose_model(offered: Mapping[str, CatalogModel], shown: str, language: str) -> None:
    """The choice of the second model."""
    key = session.shown_as("compare-with", language, shown)
    st.selectbox(
        say("heads.compare_with", language),
        list(offered),
        format_func=lambda name: catalog.describe(offered[name], language),
        key=key,
        on_change=partial(session.read_choice, key, heads_state.compare_with),
        help=say("heads.compare_with_title", language),
        width=420,
    )


def nothing(reason: str) -> None:
    """Why there is nothing to compare."""
    with st.container(key="compared-models"):
        st.info(literal(reason))


def summary(compared: TraceComparison, names: tuple[str, str], language: str) -> None:
    """What the second model says by itself, and how probable it finds the output of the first."""
    change = compared.log_probability
    facts = {
        "a": names[0],
        "b": names[1],
        "change": signed_number(change),
        "factor": short_number(math.exp(min(change, 700.0))),  # e^709 is the largest
    }
    if compared.same_text:
        st.markdown(literal(say("heads.compare_same", language, **facts)))
        return
    facts["output"] = compared.changed.text or say("heads.compare_nothing", language)
    st.markdown(literal(say("heads.compare_other", language, **facts)))


def matched_table(matched: pd.DataFrame, names: tuple[str, str], language: str) -> None:
    """Each head of the first model and its match in the second, with a download."""
    table = pd.DataFrame(
        {
            "site": [head_tables.site_name(site, language) for site in matched.site],
            "head": _head_names(matched.layer, matched["head"]),
            "other_head": _head_names(matched.other_layer, matched.other_head),
            "similarity": matched.similarity,
        }
    )
    labels = columns(table, language, "match")
    for column, name in zip(("head", "other_head"), names, strict=True):
        labels[column] = st.column_config.Column(name)
    st.caption(literal(say("heads.matched_heads", language, a=names[0], b=names[1])))
    st.dataframe(
        written(table), column_config=labels, hide_index=True, key="matched-heads", width=640
    )
    st.download_button(
        say("heads.download", language),
        visitor.limited_download(partial(_csv, matched), language),
        file_name=f"heads-{names[0]}-{names[1]}.csv".replace(" ", "-"),
        mime="text/csv",
        key="matched-download",
        on_click="ignore",
        icon=":material/download:",
    )


def _head_names(layers: "pd.Series[int]", heads: "pd.Series[int]") -> list[str]:
    return [head_tables.head_name(*place) for place in zip(layers, heads, strict=True)]


def _csv(matched: pd.DataFrame) -> bytes:
    return matched.to_csv(index=False).encode(
        "utf-8-sig"
    )  # the byte order mark is for spreadsheets
