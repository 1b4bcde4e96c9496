"""The second text of a comparison, made of the first by replacing a token."""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from explorer.app.comparisons import ComparisonError
from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.widgets.comparison_panel import take_text
from explorer.app.widgets.messages import literal, report
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.core.word_segmentation import grouped
from explorer.core.words import read_tokens, word_mark
from explorer.model.catalog import CatalogModel

_POPOVER = "replace-token"

_MOST_SYMBOLS = 40
"""More symbols than these are typed."""


def replace_token(member: CatalogModel, trace: Trace, text: str, language: str) -> None:
    """Draw a button that opens the tokens of `text`, and what replaces the chosen one: a symbol or,
    in a model of sentences, a typed word.

    trace: of the text.
    """
    labels = [word.label for word in grouped(read_tokens(trace), word_mark(trace))]
    places = places_of(labels, text)
    with st.popover(say("heads.replace", language), key=_POPOVER, on_change="rerun"):
        chosen = heads_state.replaced()
        st.caption(say("heads.replaced_token", language))
        with st.container(horizontal=True, gap="xsmall"):
            for number, place in enumerate(places):  # two of them may be alike
                st.button(
                    literal(text[place]),
                    key=f"replaced-{number}",
                    on_click=heads_state.choose_replaced,
                    args=(number,),
                    type="primary" if number == chosen else "secondary",
                )
        if chosen is not None and chosen < len(places):
            _choose_other(member, text, places[chosen], language)


def places_of(labels: Iterable[str], text: str) -> list[slice]:
    """Where the labels of tokens are in the text, in order, without those that it does not have,
    such as specials."""
    found, start = [], 0
    for label in labels:
        place = text.find(label, start) if label else -1
        if place >= 0:
            start = place + len(label)
            found.append(slice(place, start))
    return found


def _choose_other(member: CatalogModel, text: str, place: slice, language: str) -> None:
    """Draw what can stand at a place of the text."""

    def take(other: object) -> None:
        if not isinstance(other, str):
            return
        if not other.strip():
            report(ComparisonError("replaced_by_nothing", token=text[place]))
            return
        take_text(text[: place.start] + other.strip() + text[place.stop :])
        session.set_widget(_POPOVER, False)  # closed, since it covers what is compared

    label = say("heads.replace_by", language, token=literal(text[place]))
    name = f"replace-by-{place.start}"
    symbols = [symbol for symbol in member.summary.symbols if symbol != text[place]]
    chosen = 0 < len(symbols) <= _MOST_SYMBOLS
    key = session.shown_as(name, language, None if chosen else "")
    on_change = partial(session.read_choice, key, take)
    if chosen:
        st.pills(label, symbols, format_func=literal, key=key, on_change=on_change)
    else:
        longest = LONGEST_LINKED_TEXT
        st.text_input(label, key=key, on_change=on_change, max_chars=longest, autocomplete="off")
