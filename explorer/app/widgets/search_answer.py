"""An answer of a search: a weight, the sentence with its query and its key marked, and a link."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from explorer.app.widgets.marked_sentence import MARKS, marked_sentence
from explorer.core.i18n import say
from explorer.core.look import Look, to_query
from explorer.core.sites import SIDES, sides

_EXPLORE = Path(__file__).parents[1] / "views" / "explore.py"


def token_marks(language: str) -> dict[str, str]:
    """The facts "query_token" and "key_token" of a sentence that explains the colours."""
    return {
        f"{name}_token": f":{colour}-background[{say(f'heads.search_{name}', language)}]"
        for name, colour in MARKS.items()
    }


def draw_answer(
    name: object, weight: float, sentence: str, visit: Look | None, language: str
) -> None:
    """name: of this answer among all. sentence: in Markdown. visit: of Explore; None = no link."""
    with st.container(key=f"search-answer-{name}", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{weight:.2f}**", width=48)
        st.markdown(sentence)
        if visit is not None:
            st.page_link(
                _EXPLORE,
                label=say("heads.search_open", language),
                icon=":material/arrow_forward:",
                query_params=to_query(visit),
            )


def cell_in_sentence(
    sentence: Sequence[tuple[Sequence[str], str]], site: str, cell: tuple[int, int]
) -> str:
    """Source and target in Markdown, with the tokens of query and key marked.

    sentence: of each of `SIDES` the labels of its tokens, and the mark of words in them.
    """
    lines = []
    for side, (labels, mark) in zip(SIDES, sentence, strict=True):
        if labels:
            query, key = (
                position if side == of else None
                for of, position in zip(sides(*SIDES)[site], cell, strict=True)
            )
            lines.append(marked_sentence(labels, mark, query, key))
    return "  \n".join(lines)
