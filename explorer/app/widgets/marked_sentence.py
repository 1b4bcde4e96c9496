"""A sentence in Markdown with the tokens of one cell marked, in the colours that query and key have
in all pictures."""

from collections.abc import Sequence

from explorer.app.widgets.messages import literal
from explorer.core.vocabulary import shown_label
from explorer.core.word_segmentation import Unit, spelling

MARKS = {"query": "orange", "key": "green"}


def marked_sentence(
    labels: Sequence[str], mark: str, query: int | None = None, key: int | None = None
) -> str:
    """The text that tokens spell; special ones only where they are marked.

    mark: of words in the labels. query, key: positions to mark; None = not on this side.
    """
    text = ""
    for unit in spelling(labels, mark):
        cell = {"query": query, "key": key}
        marks = [colour for name, colour in MARKS.items() if _is_at(unit, cell[name])]
        if not unit.special or marks:
            space = " " if text and (unit.marked or unit.special) else ""
            text += space + _marked(unit, marks)
    return text


def _is_at(unit: Unit, position: int | None) -> bool:
    return position is not None and unit.start <= position < unit.stop


def _marked(unit: Unit, marks: Sequence[str]) -> str:
    text = literal(shown_label(unit.text))
    if marks and not text:
        text = "▁"  # a space that is a token
    for colour in marks:
        text = f":{colour}-background[:{colour}[**{text}**]]"
    return text
