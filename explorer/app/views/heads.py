"""Heads: what every head does, and what happens without it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import experiment_cache, head_views_mount
from explorer.app.head_views_mount import Sitting
from explorer.app.permalink import PARTS
from explorer.app.state import explore as explore_state
from explorer.app.state import heads as heads_state
from explorer.app.uploads import uploads
from explorer.app.widgets import head_tables, intervention_editor, measurement_panel
from explorer.app.widgets.head_table_columns import columns
from explorer.app.widgets.input_bar import controls
from explorer.app.widgets.messages import complain, plain, refuse_parts
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.heads.head_report import Findings
from explorer.heads.measurement_store import Kept
from explorer.heads.trace_comparison import Contrast
from explorer.model import catalog
from explorer.model.catalog import Entry


def page() -> None:
    """The whole page. Only whole runs follow the address bar; see `session`."""
    shelf = {**catalog.shipped(), **uploads()}
    if not shelf:
        st.info(say("explore.no_models", explore_state.language(), command=plain(catalog.REMEDY)))
        return
    explore_state.enter("heads")
    explore_state.follow_address(shelf)
    heads()


@st.fragment
def heads() -> None:
    """Controls, messages and the part looked at; what a visitor does here runs this alone."""
    language = explore_state.language()
    shelf = {**catalog.shipped(), **uploads()}
    with st.container(key="row", horizontal=True, vertical_alignment="center", gap="small"):
        controls(shelf, language)
    notice = st.container(key="notice")
    _choose_part(language)
    tell(language, notice)
    entry = shelf[heads_state.request().model]
    trace = look(entry, language, notice)
    if trace is not None:
        show(entry, trace, language, notice)
    explore_state.write_address(heads_state.place(), shelf)


def tell(language: str, notice: DeltaGenerator) -> None:
    """What could not be done, and which parts of a link could not be followed."""
    if (problem := heads_state.problem()) is not None:
        complain(problem, language, notice)
    if missing := explore_state.arrival():
        refuse_parts(missing, language, notice)


def look(entry: Entry, language: str, notice: DeltaGenerator) -> Trace | None:
    """The text as it is; when it cannot be read, one sentence and the last one that could."""
    wanted = heads_state.request()
    try:
        if heads_state.is_new(wanted):
            heads_state.spend()
        trace = experiment_cache.original(entry, wanted)
    except ExplorerError as error:
        complain(error, language, notice)
        last = heads_state.shown()
        return (
            experiment_cache.original(entry, last)
            if last != wanted and last.model == wanted.model
            else None
        )
    heads_state.remember(wanted)
    return trace


def show(entry: Entry, trace: Trace, language: str, notice: DeltaGenerator) -> None:
    """The part of the page that is looked at."""
    if entry.trace is not None:
        st.info(say("heads.trace_alone", language))
        head_views_mount.head_grid(_untouched(_sitting(entry, language)), trace, None, None)
        return
    known = measurement_panel.found(entry)
    kept = known[0] if known else None
    findings = kept.findings if kept else None
    match heads_state.part():
        case "overview":
            head_views_mount.head_grid(
                _untouched(_sitting(entry, language, kept)), trace, findings, None
            )
        case "norms":
            norms = experiment_cache.norms(entry, heads_state.shown())
            head_views_mount.head_grid(
                _untouched(_sitting(entry, language, kept)), trace, findings, norms
            )
        case "experiments":
            experiments(entry, trace, language, notice)
        case part:
            measurement_panel.gauges(entry, known, language)
            tables: Mapping[str, Callable[[Findings, str], None]] = {
                "metrics": metrics,
                "roles": roles,
                "removal": removal,
            }
            if findings is None:
                st.info(say("heads.no_findings", language))
            else:
                with st.container(key="ledger"):
                    tables[part](findings, language)


def metrics(findings: Findings, language: str) -> None:
    """Every metric: by layer and head, and as a table."""
    st.caption(plain(head_tables.batch_in_words(findings, language)))
    head_views_mount.metric_matrix(findings, language)
    table = head_tables.looks(findings, language)
    st.dataframe(
        table,
        column_config=columns(table, language),
        hide_index=True,
        key="looks",
        placeholder="–",
    )


def roles(findings: Findings, language: str) -> None:
    """Which head has which role, and on what evidence."""
    scores, proof = st.columns([10, 9], gap="medium")
    with scores:
        table = head_tables.roles(findings, language)
        chosen = st.dataframe(
            table,
            column_config=columns(table, language),
            hide_index=True,
            key="roles-table",
            on_select="rerun",
            selection_mode="single-row",
            height=640,
        )
    rows = chosen["selection"]["rows"]
    now = explore_state.selection()
    first = head_tables.row_of(findings, now.site, now.layer, now.head)
    row = rows[0] if rows and rows[0] < len(table) else first
    site, layer, head = head_tables.key_of(findings, row)
    with proof:
        name = f"{head_tables.site_name(site, language)} {head_tables.head_name(layer, head)}"
        own = head_tables.roles_in_words(findings, site, layer, head, language)
        st.markdown(f"**{plain(say('heads.role_of', language, head=name, roles=own))}**")
        evidence = head_tables.evidence(findings, site, layer, head, language)
        st.dataframe(
            evidence, column_config=columns(evidence, language), hide_index=True, key="evidence"
        )
        for sentence in head_tables.impossible(findings, site, layer, head, language):
            st.caption(plain(sentence))
        for sentence in head_tables.confounds(findings, site, language):
            st.caption(plain(sentence))
        for role, names in head_tables.heads_by_role(findings, site).items():
            facts = {"role": say(f"roles.{role}", language), "count": len(names)}
            listed = head_tables.listed(names, language)
            st.caption(plain(say("heads.head_list", language, heads=listed, **facts)))
        st.caption(plain(head_tables.batch_in_words(findings, language)))


def removal(findings: Findings, language: str) -> None:
    """Attention, importance and effect side by side, and what stands in for what."""
    if not findings.facts.get("ablation"):
        st.info(say("heads.no_removal", language))
        return
    for sentence in head_tables.redundancy(findings, language):
        st.markdown(plain(sentence))
    table = head_tables.effects(findings, language)
    st.dataframe(
        table,
        column_config=columns(table, language),
        hide_index=True,
        key="effects",
        placeholder="–",
        height=min(36 + 35 * len(table), 560),
    )
    st.caption(plain(head_tables.batch_in_words(findings, language)))


def experiments(entry: Entry, trace: Trace, language: str, notice: DeltaGenerator) -> None:
    """What to do to the model, what is done, and the text with and without it."""
    intervention_editor.tray(entry, trace, language)
    intervention_editor.chips(language)
    contrast = _tried(entry, language, notice)
    if contrast is not None:
        _verdict(entry, contrast, language)
    head_views_mount.comparison(
        _sitting(entry, language), contrast or Contrast(trace, trace, trace)
    )
    if contrast is not None:
        with st.container(key="ledger"):
            _steps(contrast, language)


def _steps(contrast: Contrast, language: str) -> None:
    """Token by token: what is said without and with, and how probable it is."""
    table = contrast.steps
    st.caption(say("heads.steps", language))
    st.dataframe(
        table,
        column_config=columns(table, language, "step"),
        hide_index=True,
        key="steps",
        placeholder="–",
    )


def _tried(entry: Entry, language: str, notice: DeltaGenerator) -> Contrast | None:
    """The text with the interventions; None without any, and when they cannot be done to it."""
    try:
        return experiment_cache.trial(entry, heads_state.shown()) if heads_state.chips() else None
    except ExplorerError as error:
        complain(error, language, notice)
        return None


def _verdict(entry: Entry, contrast: Contrast, language: str) -> None:
    """What the interventions did to the output, in one line; on a batch, when asked."""
    steps = contrast.steps
    change = head_tables.signed(contrast.log_probability)
    key = "same_output" if contrast.same_text else "other_output"
    facts = {"change": change, "count": int((~steps.same).sum()), "steps": len(steps)}
    lines = [say(f"heads.{key}", language, **facts)]
    if any(" mean" in line for line in heads_state.chips()):
        lines.append(say("heads.means_over", language, batch=experiment_cache.means_name(entry)))
    if any(line.startswith("open decoder") for line in heads_state.chips()):
        lines.append(say("heads.counterfactual", language))
    with st.container(key="verdict", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(plain(" ".join(lines)))
        if heads_state.removes_heads():
            _effect(entry, language)


def _effect(entry: Entry, language: str) -> None:
    """What taking the same heads away does to many sentences."""
    if not st.button(say("heads.effect_ask", language), key="effect"):
        return
    try:
        heads_state.spend()
        found = experiment_cache.effect(entry, heads_state.shown())
    except ExplorerError as error:
        complain(error, language)
        return
    lines = [head_tables.effect_in_words(*found, language)]
    if heads_state.changes_places():
        lines.append(say("heads.effect_heads_alone", language))
    st.markdown(plain(" ".join(lines)))


def _choose_part(language: str) -> None:
    """What to look at, and what this page is about."""
    with st.container(key="parts", horizontal=True, vertical_alignment="center", gap="small"):
        st.session_state[explore_state.PART] = heads_state.part()
        key = explore_state.widget_key(explore_state.PART, language)
        st.segmented_control(
            say("heads.parts", language),
            PARTS,
            format_func=lambda name: say(f"heads.part_{name}", language),
            key=key,
            required=True,
            on_change=heads_state.pick_part,
            args=(key,),
            label_visibility="collapsed",
        )
        with st.popover(say("heads.intro_short", language)):
            st.markdown(plain(say("heads.intro", language)))
    with st.container(key="about"):
        st.caption(plain(say(f"heads.about_{heads_state.part()}", language)))


def _sitting(entry: Entry, language: str, kept: Kept | None = None) -> Sitting:
    batch = kept.key if kept else ""
    return Sitting(entry.stamp, heads_state.shown(), language, explore_state.visits(), batch)


def _untouched(sitting: Sitting) -> Sitting:
    """The same without interventions: what is done on one part changes no other's picture."""
    return replace(sitting, request=replace(sitting.request, done=()))


if __name__ == "__main__":
    page()
