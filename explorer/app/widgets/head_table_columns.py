"""The tables on Heads: labels and help texts of their columns, and the format of numbers."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from explorer.app.widgets.head_tables import number_writer
from explorer.core.i18n import say, table
from explorer.core.number_format import fixed_number, short_number
from explorer.core.text_width import text_width
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.roles.role_names import sentence_of

_LETTER, _WIDE_LETTER, _PADDING = 6.3, 14.0, 21
"""Pixels of a letter in a table, of a Chinese character, and beside the text of a cell."""


def columns(frame: pd.DataFrame, language: str, kind: str = "column") -> dict[str, Any]:
    """By column of `frame`, its label, help text and width. kind: "weights" for the table of the
    scores of weights.

    A table on screen keeps its column widths when its numbers change, and measures only its first
    rows. So each column is given its own width.
    """
    texts = _texts(frame)
    return {str(name): _column(str(name), language, kind, texts[name]) for name in frame}


def role_columns(frame: pd.DataFrame, report: HeadReport, language: str) -> dict[str, Any]:
    """As `columns`, of the table of role scores; the help text of a role has its threshold."""
    found = columns(frame, language)
    thresholds = dict(zip(report.roles.role, report.roles.threshold, strict=True))
    for role, threshold in thresholds.items():
        name = sentence_of(role, report.facts["targets"])
        if name in found:
            from_here = say("heads.role_threshold", language, threshold=short_number(threshold))
            found[name]["help"] = f"{say(f'roles.{name}_title', language)} {from_here}"
    return found


def meanings(frame: pd.DataFrame, language: str, kind: str = "column") -> str:
    """The labels and help texts of the columns, for a screen that has no pointer to hold over
    them."""
    pairs = dict(_label_and_help(str(name), language, kind) for name in frame)
    return " · ".join(f"{label}: {about}" for label, about in pairs.items() if about)


def written(frame: pd.DataFrame) -> Styler:
    """`frame` with its numbers formatted for the screen. A column is still sorted by its
    numbers."""
    return frame.style.format(_formats(frame), na_rep="–")


def _formats(frame: pd.DataFrame) -> dict[Any, Any]:
    """Number format by column of floats."""
    floats = frame.select_dtypes("float")
    return {name: _number_format(str(name), floats[name]) for name in floats}


def _texts(frame: pd.DataFrame) -> dict[Any, list[str]]:
    """Cell texts by column."""
    formats = _formats(frame)
    return {name: list(map(formats.get(name, str), frame[name])) for name in frame}


def _column(name: str, language: str, kind: str, texts: Sequence[str]) -> Any:
    label, about = _label_and_help(name, language, kind)
    return st.column_config.Column(label, help=about, width=_width([label, *texts]))


def _label_and_help(name: str, language: str, kind: str) -> tuple[str, str | None]:
    sentence = _sentence(name, kind)
    hint = f"{sentence}_title"
    section, key = hint.split(".")
    about = say(hint, language) if key in table()[section] else None
    return say(sentence, language), about


def _width(texts: Sequence[str]) -> int:
    """Pixels of a column with room for all of these texts."""
    return _PADDING + math.ceil(max(text_width(text, _LETTER, _WIDE_LETTER) for text in texts))


def _number_format(name: str, values: "pd.Series[float]") -> Callable[[Any], str]:
    """Format of a column's numbers."""
    if name == "offset":
        return partial(fixed_number, decimals=0, signed=True)
    return number_writer(name, values)


def _sentence(name: str, kind: str) -> str:
    """The key of a column's label in the string table."""
    name = "interval" if name.endswith("_interval") else name
    places = (f"heads.{kind}_", "heads.column_", "heads.metric_", "roles.")
    for sentence in (f"{place}{name}" for place in places):
        section, key = sentence.split(".")
        if key in table()[section]:
            return sentence
    raise KeyError(name)
