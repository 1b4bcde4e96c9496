"""The section of Heads that compares two models, or two moments of a run: which ones, what they
say, and the heads that are matched as a table."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import compared_moments
from explorer.app.compared_moments import ComparedMomentError
from explorer.app.moment_pair import MomentPair
from explorer.app.state import heads as heads_state
from explorer.app.state import messages as message_state
from explorer.app.state import session, visitor
from explorer.app.widgets import head_tables
from explorer.app.widgets.head_table_columns import columns, written
from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.core.number_format import percent, short_number, signed_number
from explorer.heads.trace_comparison import TraceComparison
from explorer.model import catalog
from explorer.model.catalog import CatalogModel
from explorer.training.run_directory import Run

_RUN = "@"
"""Ends the option of a run, which no model's name does."""


def choose(
    offered: Mapping[str, CatalogModel], runs: Mapping[str, Run], shown: str, language: str
) -> DeltaGenerator:
    """The choice of the second model, or of a run whose moments are compared; the place beside it.

    shown: the name of the model or the run on screen, "" without one.
    """
    labels = {f"{key}{_RUN}": _run_label(key, language) for key in runs}
    labels |= {name: catalog.describe(other, language) for name, other in offered.items()}
    options = [*offered, *(f"{key}{_RUN}" for key in runs)]
    chosen = shown if shown in offered else f"{shown}{_RUN}"
    with st.container(key="compared", horizontal=True, vertical_alignment="bottom", gap="medium"):
        key = session.shown_as("compare-with", language, chosen if chosen in options else None)
        st.selectbox(
            say("heads.compare_with", language),
            options,
            format_func=labels.__getitem__,
            key=key,
            on_change=partial(session.read_choice, key, _take_choice),
            help=say("heads.compare_with_title", language),
            placeholder=say("heads.compare_choose", language),
            width=420,
        )
        return st.container(width="stretch")


def choose_moments(pair: MomentPair, steps: Sequence[int], language: str) -> None:
    """The choice of each of the two moments."""
    choices = {
        "first": (
            pair.first,
            lambda step: heads_state.compare_with(str(replace(pair, first=step))),
        ),
        "second": (
            pair.second,
            lambda step: heads_state.compare_with(str(replace(pair, second=step))),
        ),
    }
    with st.container(key="moments", horizontal=True, gap="medium"):
        for name, (shown, take) in choices.items():
            key = session.shown_as(f"compare-{name}", language, shown)
            st.selectbox(
                say(f"heads.compare_{name}", language),
                steps,
                key=key,
                on_change=partial(session.read_choice, key, take),
                width=200,
            )


def moment_names(pair: MomentPair, language: str) -> tuple[str, str]:
    """What the two moments are called."""
    one, other = (say("heads.moment", language, step=step) for step in (pair.first, pair.second))
    return one, other


def moments_summary(compared: TraceComparison, run: Run, pair: MomentPair, language: str) -> None:
    """What the probe is, and how good the model was at both moments."""
    text = str(compared.original.facts.get("text", ""))
    lines = [say("heads.compare_probe", language, name=run.name, text=text)]
    one, other = (compared_moments.scores(run, step) for step in (pair.first, pair.second))
    writers = {"exact_match": percent, "bleu": short_number}
    for name, write in writers.items():
        if name in one and name in other:
            facts = {"first": write(one[name]), "second": write(other[name])}
            lines.append(say(f"heads.compare_{name}", language, **facts))
    st.markdown(literal(" ".join(lines)))


def models_summary(compared: TraceComparison, names: tuple[str, str], language: str) -> None:
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


def _run_label(key: str, language: str) -> str:
    root, name = key.split("/", 1)
    return say(f"heads.compare_{root}", language, name=name)


def _take_choice(chosen: object) -> None:
    """Compare with the chosen model, or an early moment of the chosen run with its last."""
    if not isinstance(chosen, str):
        return
    if not chosen.endswith(_RUN):
        heads_state.compare_with(chosen)
        return
    key = chosen.removesuffix(_RUN)
    run = compared_moments.runs().get(key)
    steps = compared_moments.steps_of(run) if run else []
    try:
        heads_state.compare_with(str(compared_moments.opening_pair(key, steps)))
    except ComparedMomentError as error:
        message_state.report(error)


def _head_names(layers: "pd.Series[int]", heads: "pd.Series[int]") -> list[str]:
    return [head_tables.head_name(*place) for place in zip(layers, heads, strict=True)]


def _csv(matched: pd.DataFrame) -> bytes:
    return matched.to_csv(index=False).encode(
        "utf-8-sig"
    )  # the byte order mark is for spreadsheets
