"""The section of Heads that compares two models, two moments of a run, two texts, or a text without
and with interventions: the choice of both sides, their outputs, and a table of matched heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import comparisons, experiment_cache
from explorer.app.comparisons import ComparisonError
from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.changed_prediction import prediction_sentence
from explorer.app.widgets.downloads import download_button
from explorer.app.widgets.head_table_columns import columns, written
from explorer.app.widgets.messages import literal, notify, report, show_error
from explorer.components.head_views.payload import Sides
from explorer.components.labels import batch_name, describe
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.look import CHANGES, OTHER_TEXT, MomentPair
from explorer.core.number_format import fixed_number, percent, short_number, signed_number
from explorer.core.trace import Trace
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.heads.comparison.attention_comparison import AttentionComparison
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.initial_head import InitialChoice
from explorer.jobs.training_run import Run
from explorer.model.catalog import CatalogModel

_RUN = "@"
"""Suffix of the option of a run. No model's name ends with it."""

_OWN = {OTHER_TEXT: "compare_text", CHANGES: "compare_changes"}
"""Second sides on the model on screen, besides other models → the key of their label."""

_NEVER = 0.01
"""An output that is less than this many times as probable as in another model has less than 1 % in
this one: it almost never writes it."""

_LONGEST_NAME = 32
"""Most characters of a text in the heading of its map."""


@dataclass(frozen=True, slots=True)
class ComparisonPlaces:
    """Places beside the choice of the second side.

    area: for further fields and, in a wide window, a sentence. words: opened by a button, with all
        sentences on the comparison, so that the maps begin high in a small window. below: under the
        choice.
    """

    area: DeltaGenerator
    words: DeltaGenerator
    below: DeltaGenerator

    def summarise(self, text: str, numbers: str = "") -> None:
        """Show the result of the comparison in both places, and where everything is shown its
        `numbers`."""
        with self.area.container(key="compare-summary"):
            st.markdown(literal(text))
            draw_numbers(numbers, "summary")
        with self.words:
            st.markdown(literal(text))
            draw_numbers(numbers, "words")


def draw_numbers(text: str, name: str) -> None:
    """Draw a sentence that main.css hides in Simple. name: of its place."""
    if text:
        with st.container(key=f"compare-numbers-{name}"):
            st.markdown(literal(text))


def choose(
    offered: Mapping[str, CatalogModel],
    runs: Mapping[str, Run],
    own: Sequence[str],
    shown: str,
    language: str,
) -> ComparisonPlaces:
    """Draw the choice of the second side. Returns the places beside it.

    offered: models. runs: those whose moments can be compared. own: options on the model on screen,
        see `_OWN`, which come first. shown: the option on screen.
    """
    labels = {name: say(f"heads.{_OWN[name]}", language) for name in own}
    labels |= {name: describe(other, language) for name, other in offered.items()}
    labels |= {f"{key}{_RUN}": _run_label(key, language) for key in runs}
    options = [*own, *offered, *(f"{key}{_RUN}" for key in runs)]
    chosen = shown if shown in options else f"{shown}{_RUN}"
    with st.container(key="compared", horizontal=True, vertical_alignment="top", gap="medium"):
        key = session.shown_as("compare-with", language, chosen if chosen in options else None)
        with st.container(width=420):
            st.selectbox(
                say("heads.compare_with", language),
                options,
                format_func=labels.__getitem__,
                key=key,
                on_change=partial(session.read_choice, key, _take_choice),
                help=say("heads.compare_with_title", language),
                placeholder=say("heads.compare_choose", language),
            )
            below = st.container()
        area = st.container(width="stretch")
        words = st.popover(say("heads.compare_words", language), key="compare-words")
    return ComparisonPlaces(area, words, below)


def choose_moments(pair: MomentPair, steps: Sequence[int], language: str) -> None:
    """Draw the choice of each of the two moments."""
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


def type_text(text: str, language: str) -> None:
    """Draw the box for the other text."""
    key = session.shown_as("compare-text", language, text)
    st.text_input(
        say("heads.other_text", language),
        key=key,
        on_change=partial(session.read_choice, key, partial(_take_typed, language)),
        placeholder=say("heads.other_text_hint", language),
        max_chars=LONGEST_LINKED_TEXT,
        autocomplete="off",
    )


def text_names(text: str, other: str) -> tuple[str, str]:
    """Names of the two texts."""
    return _quoted(text), _quoted(other)


def texts_summary(compared: TraceComparison, traces: tuple[Trace, Trace], language: str) -> str:
    """The model's output on both texts, and how much of it is compared.

    traces: of both texts, each with its whole output.
    """
    facts = {}
    for name, trace in zip("ab", traces, strict=True):
        facts[name] = str(trace.facts.get("text", ""))
        facts[f"{name}_output"] = trace.text or say("heads.compare_nothing", language)
    said = any(trace.predicted_tokens for trace in traces)
    if facts["a"] == facts["b"]:
        return say("heads.compare_equal_texts", language)
    lines = [say(f"heads.compare_{'texts' if said else 'texts_alone'}", language, **facts)]
    longest = max(len(trace.target_tokens) for trace in traces)
    shown = len(compared.original.target_tokens)
    if shown < longest:
        lines.append(say("heads.compare_cut", language, shown=shown, longest=longest))
    return " ".join(lines)


def change_names(language: str) -> tuple[str, str]:
    """Names of the text without and with the interventions."""
    return say("heads.without_changes", language), say("heads.with_changes", language)


def changes_summary(
    member: CatalogModel, interventions: Interventions, compared: TraceComparison, language: str
) -> str:
    """The effect of the interventions on the output, over what means are taken, and that a later
    position is a counterfactual."""
    lines = [_output_sentence(compared, language)]
    if interventions.needs_mean_outputs:
        batch = batch_name(experiment_cache.means_batch(member), language)
        lines.append(say("heads.means_over", language, batch=batch))
    if any(cell.looks_ahead for cell in interventions.edit_mask):
        lines.append(say("heads.counterfactual", language))
    return " ".join(lines)


def changes_numbers(compared: TraceComparison, language: str) -> str:
    """How the probability of the output changes with the interventions; "" if it does not."""
    if not compared.has_output or compared.as_sure:
        return ""
    change = fixed_number(compared.log_probability, 3, signed=True)
    factor = short_number(compared.factor)
    return say("heads.output_factor", language, change=change, factor=factor)


def _output_sentence(compared: TraceComparison, language: str) -> str:
    if not compared.has_output:
        predicted = prediction_sentence(compared.original, compared.changed, language)
        return predicted or say("heads.no_output", language)
    facts = {
        "count": compared.same.count(False),
        "steps": len(compared.same),
    }
    key = "same_output" if compared.same_text else "other_output"
    return say(f"heads.{key}{'_as_sure' if compared.as_sure else ''}", language, **facts)


def effect(member: CatalogModel, interventions: Interventions, language: str) -> None:
    """Draw the effect of the removed heads, measured on an evaluation batch, or why it cannot be
    measured."""
    try:
        measured = experiment_cache.effect(member, interventions)
    except ExplorerError as error:
        show_error(error, language)
        return
    lines = [head_tables.effect_text(measured, language)]
    if interventions.on_cells:
        lines.append(say("heads.effect_heads_alone", language))
    st.markdown(literal(" ".join(lines)))
    draw_numbers(head_tables.effect_losses(measured, language), "effect")


def initial_summary(
    chosen: InitialChoice | None, attention: AttentionComparison, sides: Sides, language: str
) -> None:
    """Explain why the two heads on screen were chosen, if the app chose them, and that the gold
    weights beside them are of this text alone.

    chosen: None if a link or the visitor chose the heads.
    """
    lines = [] if chosen is None else [_why(chosen, attention, sides, language)]
    if attention.a.gold is not None:
        lines.append(say("heads.gold_of_text", language))
    if lines:
        st.caption(literal(" ".join(lines)))


def _why(chosen: InitialChoice, attention: AttentionComparison, sides: Sides, language: str) -> str:
    """Why the head of the first side is on screen, and the head of the second side beside it."""
    facts = {
        "a": sides.names[0],
        "b": sides.names[1],
        "why": say(f"heads.opens_{chosen.why}", language, value=short_number(chosen.value)),
        "head": head_tables.head_name(chosen.head.layer, chosen.head.head),
    }
    site, layer, head = chosen.head
    matches = attention.matched()
    found = matches[(matches.site == site) & (matches.layer == layer) & (matches["head"] == head)]
    if sides.rule == "same" or found.empty:
        return say("heads.opens_same", language, **facts)
    place = (int(found.other_layer.iloc[0]), int(found.other_head.iloc[0]))
    facts["other"] = head_tables.head_name(*place)
    facts["similarity"] = short_number(float(found.similarity.iloc[0]))
    return say("heads.opens_matched", language, **facts)


def moment_names(pair: MomentPair, language: str) -> tuple[str, str]:
    """Names of the two moments."""
    one, other = (say("heads.moment", language, step=step) for step in (pair.first, pair.second))
    return one, other


def moments_summary(compared: TraceComparison, run: Run, pair: MomentPair, language: str) -> str:
    """A sentence on the probe, and the model's scores at both moments."""
    text = str(compared.original.facts.get("text", ""))
    lines = [say("heads.compare_probe", language, name=run.name, text=text)]
    one, other = (comparisons.moment_scores(run, step) for step in (pair.first, pair.second))
    writers = {"exact_match": percent, "bleu": short_number}
    for name, write in writers.items():
        if name in one and name in other:
            facts = {"first": write(one[name]), "second": write(other[name])}
            lines.append(say(f"heads.compare_{name}", language, **facts))
    return " ".join(lines)


def models_summary(compared: TraceComparison, names: tuple[str, str], language: str) -> str:
    """The second model's own output, and whether it would write that of the first."""
    output = compared.changed.text or say("heads.compare_nothing", language)
    key = "compare_same" if compared.same_text else "compare_other"
    if compared.as_sure:
        key += "_as_sure"
    elif not compared.same_text and compared.factor < _NEVER:
        key = "compare_never"
    return say(f"heads.{key}", language, a=names[0], b=names[1], output=output)


def models_numbers(compared: TraceComparison, names: tuple[str, str], language: str) -> str:
    """The second model's probability for the output of the first; "" if both are equally sure."""
    if compared.as_sure:
        return ""
    facts = {"change": signed_number(compared.log_probability)}
    facts["factor"] = short_number(compared.factor)
    return say("heads.compare_factor", language, a=names[0], b=names[1], **facts)


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
    file_name = f"heads-{names[0]}-{names[1]}.csv".replace(" ", "-")
    make = partial(_csv, matched)
    download_button("heads.download", make, file_name, "matched-download", language)


def _run_label(key: str, language: str) -> str:
    root, name = key.split("/", 1)
    return say(f"heads.compare_{root}", language, name=name)


def _take_choice(chosen: object) -> None:
    """Compare with the chosen model, or, for a run, an early moment with the last one."""
    if not isinstance(chosen, str):
        return
    if not chosen.endswith(_RUN):
        heads_state.compare_with(chosen)
        return
    key = chosen.removesuffix(_RUN)
    run = comparisons.runs_with_moments().get(key)
    steps = comparisons.steps_of(run) if run else []
    try:
        heads_state.compare_with(str(comparisons.initial_pair(key, steps)))
    except ComparisonError as error:
        report(error)


def _take_typed(language: str, text: object) -> None:
    """As `take_text`; that an empty text is replaced is said."""
    if isinstance(text, str) and not text.strip():
        notify(say("heads.other_text_empty", language))
    take_text(text)


def take_text(text: object) -> None:
    """Compare with the typed text, or, if it is empty, with the text offered first."""
    if isinstance(text, str):
        heads_state.remember_other_text(text.strip(), visit_state.current().request.model)
        heads_state.compare_with(OTHER_TEXT)


def _quoted(text: str) -> str:
    cut = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
    return f"“{cut}”"


def _head_names(layers: "pd.Series[int]", heads: "pd.Series[int]") -> list[str]:
    return [head_tables.head_name(*place) for place in zip(layers, heads, strict=True)]


def _csv(matched: pd.DataFrame) -> bytes:
    return matched.to_csv(index=False).encode(
        "utf-8-sig"
    )  # the byte order mark is for spreadsheets
