"""The tables on Heads: labels and help texts of their columns, and the format of numbers."""

import math
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from explorer.app.widgets.head_tables import number_writer
from explorer.core.i18n import say, table
from explorer.core.number_format import fixed_number

_LETTER, _WIDE_LETTER, _PADDING = 6.3, 14.0, 21
"""Pixels of a letter in a table, of a Chinese character, and beside the text of a cell."""


def columns(frame: pd.DataFrame, language: str, kind: str = "column") -> dict[str, Any]:
    """By column of `frame`, its label, help text and width.

    A table on screen keeps its column widths when its numbers change, and measures only its first
    rows. So each column is given its own width.
    """
    texts = _texts(frame)
    return {str(name): _column(str(name), language, kind, texts[name]) for name in frame}


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
    measured = name.removesuffix("_interval")
    sentence = _sentence(measured, kind)
    label, hint = say(sentence, language), f"{sentence}_title"
    if measured != name:
        label = say("heads.column_interval", language, metric=label)
    section, key = hint.split(".")
    about = say(hint, language) if key in table()[section] else None
    return st.column_config.Column(label, help=about, width=_width([label, *texts]))


def _width(texts: Sequence[str]) -> int:
    """Pixels of a column with room for all of these texts."""
    return _PADDING + math.ceil(max(map(_text_width, texts)))


def _text_width(text: str) -> float:
    """Pixels of a text, about: no font can be asked here."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return wide * _WIDE_LETTER + (len(text) - wide) * _LETTER


def _number_format(name: str, values: "pd.Series[float]") -> Callable[[Any], str]:
    """Format of a column's numbers."""
    if name == "offset":
        return partial(fixed_number, decimals=0, signed=True)
    return number_writer(name, values)


def _sentence(name: str, kind: str) -> str:
    """The key of a column's label in the string table."""
    places = (f"heads.{kind}_", "heads.column_", "heads.metric_", "roles.")
    for sentence in (f"{place}{name}" for place in places):
        section, key = sentence.split(".")
        if key in table()[section]:
            return sentence
    raise KeyError(name)
