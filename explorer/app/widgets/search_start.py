"""What stands in the section of Heads that searches a corpus before there is an index: an answer
from the text on screen, as an example, and the form that builds one."""

import numpy as np
import streamlit as st

from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.widgets.head_tables import named_head
from explorer.app.widgets.search_answer import cell_in_sentence, draw_answer, token_marks
from explorer.app.widgets.search_form import search_form
from explorer.core.i18n import say
from explorer.core.look import Look, Selection
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.word_segmentation import is_special
from explorer.core.words import word_mark
from explorer.model.catalog import CatalogModel


def search_start(model: CatalogModel, trace: Trace, head: Head, language: str) -> None:
    """The example, and the form."""
    facts = {"head": named_head(head, trace, language), **token_marks(language)}
    st.caption(say("heads.search_example", language, **facts))
    _draw_example(trace, head, language)
    st.markdown(say("heads.search_no_index", language))
    search_form(model, language)


def strongest_cell(trace: Trace, head: Head) -> tuple[int, int]:
    """Query and key of the largest weight of a head on text; on specials only where there is no
    text. In a decoder the first token sees itself alone: its row counts only where it is the only
    one."""
    first = int(head.site == "decoder" and len(trace.target_tokens) > 1)
    weights = trace.attention(head.site)[head.layer, head.head, first:]
    text = np.array([not is_special(token) for token in trace.keys(head.site)])
    shown = weights * text if (weights * text).any() else weights
    query, key = np.unravel_index(np.argmax(shown), shown.shape)
    return int(query) + first, int(key)


def _draw_example(trace: Trace, head: Head, language: str) -> None:
    cell, mark = strongest_cell(trace, head), word_mark(trace)
    target = (*trace.target_tokens, *trace.predicted_tokens[-1:])
    sentence = [(tokens, mark) for tokens in (trace.source_tokens, target)]
    visit = _visit(head, cell)
    weight = float(trace.attention(head.site)[head.layer, head.head, *cell])
    draw_answer("example", weight, cell_in_sentence(sentence, head.site, cell), visit, language)


def _visit(head: Head, cell: tuple[int, int]) -> Look:
    """The visit of Explore that shows a cell of the text on screen."""
    step = None if head.site == "encoder" else cell[0] + 1
    everything = visit_state.current().selection.everything
    selection = Selection(*head, step, cell=cell, everything=everything)
    return Look(heads_state.shown_request(), selection)
