"""The tray of Experiments: what to do next, and a chip for each thing that is done."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from explorer.app.state import explore as explore_state
from explorer.app.state import heads as heads_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.messages import plain
from explorer.core.i18n import say
from explorer.core.interventions import Ablation, CellEdit, Interventions, Keep, RowOverride
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogModel


def tray(entry: CatalogModel, trace: Trace, language: str) -> None:
    """The row in which the next intervention is filled in."""
    with st.container(key="tray", horizontal=True, vertical_alignment="bottom", gap="small"):
        verb = _choice(heads_state.VERB, heads_state.VERBS, "verb", language, 140)
        site = _choice(
            heads_state.SITE, trace.sites, "site", language, 130, default=trace.sites[-1]
        )
        layers, heads = trace.attention(site).shape[:2]
        cell = verb in ("close", "open")
        _place(heads_state.LAYER, "layer", "L", layers, cell, language)
        _place(heads_state.HEAD, "head", "H", heads, cell, language)
        if verb == "ablate":
            _choice(heads_state.HOW, ("zero", "mean"), "how", language, 170)
        if verb in ("close", "open", "row"):
            _position(heads_state.QUERY, "query", trace.queries(site), language)
        if cell:
            _position(heads_state.KEY, "key", trace.keys(site), language)
        if verb == "row":
            label, hint = say("heads.weights", language), say("heads.weights_hint", language)
            st.text_input(
                label, key=heads_state.WEIGHTS, placeholder=hint, width=260, autocomplete="off"
            )
        st.button(
            say("heads.add", language),
            key="heads-add",
            type="primary",
            on_click=partial(heads_state.add, entry),
            help=say("heads.cell_hint", language) if cell else None,
        )


def chips(language: str) -> None:
    """What is done, each undone by a click."""
    lines = heads_state.chips()
    with st.container(key="chips", horizontal=True, gap="small"):
        if not lines:
            st.caption(say("heads.no_chips", language))
        for line in lines:
            name = in_words(line, language)
            st.button(
                plain(name),
                key=f"undo-{line}",
                icon=":material/close:",
                help=plain(say("heads.undo", language, chip=name)),
                on_click=partial(heads_state.undo, line),
            )
        if len(lines) > 1:
            st.button(
                say("heads.undo_all", language), key="undo-all", on_click=heads_state.undo_all
            )


def in_words(line: str, language: str) -> str:
    """One intervention as a chip names it."""
    done = Interventions.parse([line])
    for ablated in done.ablate:
        key = f"heads.chip_ablate_{ablated.how}"
        return say(key, language, head=_head_in_words(ablated, language))
    for cell in done.edit_mask:
        key = "heads.chip_open" if cell.open else "heads.chip_close"
        facts = {"query": cell.query, "column": cell.key}
        return say(key, language, head=_head_in_words(cell, language), **facts)
    for row in done.override_row:
        return say("heads.chip_row", language, head=_head_in_words(row, language), query=row.query)
    return say("heads.chip_keep", language, head=_head_in_words(done.keep[0], language))


def _head_in_words(one: Ablation | CellEdit | RowOverride | Keep, language: str) -> str:
    site = head_tables.site_name(one.site, language)
    layer = say("heads.all_layers", language) if one.layer is None else f"L{one.layer}"
    head = say("heads.all_heads", language) if one.head is None else f"H{one.head}"
    return f"{site} {layer} {head}"


def _choice(
    name: str, options: tuple[str, ...], what: str, language: str, width: int, default: str = ""
) -> str:
    """One of several words."""
    words = "player.site" if what == "site" else f"heads.{what}"
    place = options.index(default) if default else 0
    say_option = partial(_in_words, words, language)
    return str(_select(name, options, what, language, width, say_option, place))


def _place(name: str, what: str, letter: str, count: int, all_of_them: bool, language: str) -> None:
    """A layer or a head; for a cell of the mask also all of them."""
    options = (*range(count), *([heads_state.ALL] if all_of_them else []))
    every = say("heads.all", language)
    label = {
        number: every if number == heads_state.ALL else f"{letter}{number}" for number in options
    }
    _select(name, options, what, language, 90, label.__getitem__)


def _position(name: str, what: str, tokens: tuple[str, ...], language: str) -> None:
    """A query or a key by its place, beside its token."""
    options = tuple(range(len(tokens)))
    _select(name, options, what, language, 130, lambda place: f"{place} · {tokens[place]}")


def _select(
    name: str,
    options: Sequence[Any],
    what: str,
    language: str,
    width: int,
    in_words: Callable[[Any], str],
    default: int = 0,
) -> Any:
    """A select for the entry called `name`, which stays while it is not drawn."""
    if st.session_state.get(name) not in options:
        st.session_state[name] = options[default]
    key = explore_state.widget_key(name, language)
    return st.selectbox(
        say(f"heads.{what}", language),
        options,
        format_func=in_words,
        key=key,
        on_change=partial(heads_state.pick, name, key),
        width=width,
    )


def _in_words(words: str, language: str, option: str) -> str:
    return say(f"{words}_{option}", language)
