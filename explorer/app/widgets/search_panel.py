"""The section of Heads that searches a corpus for the sentences in which a head puts most weight on
what is asked for: the index, the question, and the answers, each with a link to Explore."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.state import heads as heads_state
from explorer.app.state import measurements, session
from explorer.app.state import visit as visit_state
from explorer.app.widgets.downloads import download_button, download_name
from explorer.app.widgets.head_tables import named_head
from explorer.app.widgets.job_progress import choose_report, form_popover, job_progress
from explorer.app.widgets.messages import show_error
from explorer.app.widgets.search_answer import cell_in_sentence, draw_answer, token_marks
from explorer.app.widgets.search_form import search_form
from explorer.app.widgets.search_start import search_start
from explorer.components.labels import batch_name
from explorer.core.csv_text import csv_bytes
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import Look, from_query
from explorer.core.section_questions import KEY_PARTS, LARGEST_OFFSET, LONGEST_LABEL
from explorer.core.sites import SIDES, Head
from explorer.core.trace import Trace
from explorer.core.vocabulary import EOS, SPECIALS
from explorer.heads.reports.report_files import Stored
from explorer.model.catalog import CatalogModel

if TYPE_CHECKING:
    from explorer.heads.search.attention_index import AttentionIndex
    from explorer.heads.search.stored_indexes import IndexFile

_MOST_IN_SIMPLE = 3  # sentences


def search_panel(model: CatalogModel, trace: Trace, head: Head, language: str) -> DeltaGenerator:
    """The choice of index, the form, the question about `head`, and the answers. Without an index,
    what `search_start` draws. Returns the place beside the answers, for the picture.

    trace: the one on screen, whose heads can be chosen.
    """
    from explorer.heads.search.stored_indexes import stored_indexes  # late: with torch

    stored = stored_indexes(model_cache.digest(model))
    if not stored:
        job_progress("index", language)
        begun, picture = _columns()
        with begun, st.container(key="search-form"):
            search_start(model, trace, head, language)
        return picture
    chosen = measurements.current().shown.get("index")
    shown = next((one for one in stored if one.key == chosen), stored[0])
    with st.container(
        key="measurement-panel", horizontal=True, vertical_alignment="center", gap="small"
    ):
        names = names_of(stored, language)
        choose_report("index", "heads.search_indexes", "search-index", names, shown.key, language)
        with form_popover(say("heads.search_index", language)):
            search_form(model, language)
        download = st.container(width="content")
    job_progress("index", language)
    _question(trace, head, language)
    listed, picture = _columns()
    with listed, st.container(key="search-answers"):
        try:
            index = _opened(shown)
            found = answers(index, head)
        except ExplorerError as error:
            show_error(error, language)
            return picture
        _draw_answers(model, index, head, found, language)
    if not found.empty:
        with download:
            name = download_name("search", model.label, head, shown.report.name)
            make = partial(csv_bytes, found)
            download_button("heads.download", make, f"{name}.csv", "search-download", language)
    return picture


def fires_most(model: CatalogModel, trace: Trace, head: Head, language: str) -> None:
    """A button of Simple: the sentences of the index that ships with a model, or of the oldest, in
    which `head` puts most weight on one cell; of a decoder on one of text: its first token can look
    at itself alone. Nothing without an index."""
    from explorer.heads.search.stored_indexes import stored_indexes  # late: with torch

    shipped = stored_indexes(model_cache.digest(model))[-1:] if model.is_own else []
    for one in shipped:
        index = _opened(one)
        part = "content" if head.site == "decoder" else None
        found = index.search(head, part=part, top=_MOST_IN_SIMPLE)
        if not found.empty:
            with st.container(key="fires-most"), st.popover(say("heads.part_search", language)):
                facts = {"head": named_head(head, trace, language), **token_marks(language)}
                st.caption(say("heads.fires_most", language, **facts))
                _draw_rows(model, index, head, found, language)


def _columns() -> tuple[DeltaGenerator, DeltaGenerator]:
    with st.container(key="search-result"):
        return st.columns(2, gap="small")


def names_of(stored: "Sequence[Stored[IndexFile]]", language: str) -> dict[str, str]:
    """Names of the indexes in the list by key: their sentences, numbered if two are alike."""
    names, often = {}, Counter[str]()
    for one in stored:
        name = f"{batch_name(one.report.name, language)} · {one.report.sentences}"
        often[name] += 1
        names[one.key] = f"{name} ({often[name]})" if often[name] > 1 else name
    return names


def answers(index: "AttentionIndex", head: Head) -> pd.DataFrame:
    """The sentences in which `head` does most of what the visitor asks for. Raises
    `SearchError`."""
    asked = heads_state.cell_question()
    return index.search(
        head,
        tokens=(asked.query or None, asked.key or None),
        offset=asked.offset,
        part=asked.part or None,
    )


def visit_of(link: str, model: CatalogModel) -> Look:
    """The visit that a link of an index opens, in the model as this app lists it."""
    query = dict(parse_qsl(link.removeprefix("?"))) | {"model": model.name}
    look, _ = from_query(query, {model.name: visit_state.initial_request(model)})
    everything = visit_state.current().selection.everything
    return replace(look, selection=replace(look.selection, everything=everything))


def _opened(stored: "Stored[IndexFile]") -> "AttentionIndex":
    from explorer.heads.search.attention_index import open_index  # late: with torch

    return model_cache.kept(
        ("index", str(stored.report.path), stored.key),
        lambda: open_index(stored.report.path),
        lambda index: index.memory,
    )


def _question(trace: Trace, head: Head, language: str) -> None:
    """The head, and the fields of the question."""
    with st.container(
        key="search-question", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        _choose_head(trace, head, language)
        for name in ("query", "key"):
            options: dict[str, Any] = {"max_chars": LONGEST_LABEL, "autocomplete": "off"}
            _field(st.text_input, name, language, placeholder=_any(language), **options)
        limits: dict[str, Any] = {"min_value": -LARGEST_OFFSET, "max_value": LARGEST_OFFSET}
        limits |= {"step": 1, "value": None}
        _field(st.number_input, "offset", language, placeholder=_any(language), **limits)
        _choose_part(language)


def _choose_head(trace: Trace, head: Head, language: str) -> None:
    offered = [
        Head(site, layer, number) for site in trace.sites for layer, number in _places(trace, site)
    ]
    key = session.shown_as("search-head", language, head)
    st.selectbox(
        say("heads.head", language),
        offered,
        format_func=lambda one: named_head(one, trace, language),
        key=key,
        on_change=partial(session.read_choice, key, heads_state.show_head),
        width=170,
    )


def _places(trace: Trace, site: str) -> list[tuple[int, int]]:
    layers, heads = trace.attention(site).shape[:2]
    return [(layer, head) for layer in range(layers) for head in range(heads)]


def _field(widget: Any, name: str, language: str, **options: Any) -> None:
    """A field of the question that a person types into."""
    key = session.shown_as(f"search-{name}", language, getattr(heads_state.cell_question(), name))
    widget(
        say(f"heads.search_{name}", language),
        key=key,
        help=say(f"heads.search_{name}_title", language),
        on_change=partial(session.read_choice, key, partial(_ask, name)),
        width=150,
        **options,
    )


def _choose_part(language: str) -> None:
    key = session.shown_as("search-part", language, heads_state.cell_question().part)
    st.selectbox(
        say("heads.search_part", language),
        ["", *KEY_PARTS],
        format_func=lambda one: _part_name(one, language),
        key=key,
        help=say("heads.search_part_title", language),
        on_change=partial(session.read_choice, key, partial(_ask, "part")),
        width=190,
    )


def _part_name(part: str, language: str) -> str:
    return say(f"heads.search_part_{part.replace(' ', '_')}", language) if part else _any(language)


def _any(language: str) -> str:
    return say("heads.search_any", language)


def _ask(name: str, value: object) -> None:
    typed: Any = value.strip() if isinstance(value, str) else value
    heads_state.ask("search", replace(heads_state.cell_question(), **{name: typed}))


def _draw_answers(
    model: CatalogModel,
    index: "AttentionIndex",
    head: Head,
    found: pd.DataFrame,
    language: str,
) -> None:
    if found.empty:
        st.info(say("heads.search_nothing", language, least=f"{index.least:.1g}"))
        return
    facts = {"count": len(found), "all": len(index), **token_marks(language)}
    st.caption(say("heads.search_answers", language, **facts))
    if head.site == "decoder" and not found[["query", "key"]].any(axis=None):
        st.info(say("heads.search_first_tokens", language))
    _draw_rows(model, index, head, found, language)


def _draw_rows(
    model: CatalogModel,
    index: "AttentionIndex",
    head: Head,
    found: pd.DataFrame,
    language: str,
) -> None:
    for number, row in enumerate(found.to_dict("records")):
        tokens = [index.tokens[side] for side in SIDES]
        source, target = (one.of_sentence(row["sentence"]) for one in tokens)
        if index.facts["forced"] is not None:
            target = [*target, SPECIALS[EOS]]  # a given target is predicted to its end
        sentence = list(zip((source, target), (one.mark for one in tokens), strict=True))
        marked = cell_in_sentence(sentence, head.site, (row["query"], row["key"]))
        visit = visit_of(row["link"], model) if row["link"] else None
        draw_answer(number, row["weight"], marked, visit, language)
