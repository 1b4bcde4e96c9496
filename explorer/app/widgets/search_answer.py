"""An answer of a search: a weight, the sentence with its query and its key marked, and a link."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.core.look import Look, to_query
from explorer.core.sites import SIDES, sides
from explorer.core.vocabulary import shown_label
from explorer.core.word_segmentation import Unit, spelling

_EXPLORE = Path(__file__).parents[1] / "views" / "explore.py"

MARKS = {"query": "orange", "key": "green"}
"""The colours that query and key have in all pictures."""


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
    """Source and target in Markdown, with the tokens of query and key marked, and "→" before the
    token that the row of the query is to predict.

    sentence: of each of `SIDES` the labels of its tokens, and the mark of words in them; of the
        target also what its last row is to predict, where that is known.
    """
    lines = []
    for side, (labels, mark) in zip(SIDES, sentence, strict=True):
        if labels:
            query, key = (
                position if side == of else None
                for of, position in zip(sides(*SIDES)[site], cell, strict=True)
            )
            following = query + 1 if side == "target" and query is not None else None
            lines.append(marked_sentence(labels, mark, query, key, following))
    return "  \n".join(lines)


def marked_sentence(
    labels: Sequence[str],
    mark: str,
    query: int | None = None,
    key: int | None = None,
    following: int | None = None,
) -> str:
    """The text that tokens spell; special ones only where they are marked.

    mark: of words in the labels. query, key, following: positions to mark, the last with "→";
        None = not on this side.
    """
    text = ""
    for unit in spelling(labels, mark):
        cell = {"query": query, "key": key}
        marks = [colour for name, colour in MARKS.items() if _is_at(unit, cell[name])]
        if unit.start == following:
            text += f" {_predicted(unit)}"
        elif not unit.special or marks:
            space = " " if text and (unit.marked or unit.special) else ""
            text += space + _marked(unit, marks)
    return text


def _is_at(unit: Unit, position: int | None) -> bool:
    return position is not None and unit.start <= position < unit.stop


def _predicted(unit: Unit) -> str:
    return f":{MARKS['query']}[**→ {literal(shown_label(unit.text)) or '▁'}**]"


def _marked(unit: Unit, marks: Sequence[str]) -> str:
    text = literal(shown_label(unit.text))
    if marks and not text:
        text = "▁"  # a space that is a token
    for colour in marks:
        text = f":{colour}-background[:{colour}[**{text}**]]"
    return text
