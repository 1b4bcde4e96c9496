"""The columns of the tables on Heads: labels, help texts and number formats."""

from typing import Any

import pandas as pd
import streamlit as st

from explorer.app.widgets.head_tables import EFFECTS
from explorer.core.i18n import say, table

_PROBABILITIES = ("probability", "changed_probability", "forced_probability")


def columns(frame: pd.DataFrame, language: str, kind: str = "column") -> dict[str, Any]:
    """By column of `frame`, how it is shown. kind: "step" for the table of steps."""
    return {str(name): _column(frame, str(name), language, kind) for name in frame}


def _column(frame: pd.DataFrame, name: str, language: str, kind: str) -> Any:
    sentence = _sentence(name, kind)
    label = say(sentence, language)
    hint = f"{sentence}_title"
    section, key = hint.split(".")
    about = say(hint, language) if key in table()[section] else None
    if not pd.api.types.is_float_dtype(frame[name]):
        return st.column_config.Column(label, help=about)
    return st.column_config.NumberColumn(label, help=about, format=_number_format(name))


def _number_format(name: str) -> str:
    """How a column's numbers are written: changes with a sign, small ones not as 0.00."""
    if name in _PROBABILITIES:
        return "percent"
    if name == "offset":
        return "%+d"
    if name in EFFECTS or name == "log_probability":
        return "%+.2f" if name.endswith("_exact") else "%+.2g"
    return "%.2g" if name == "importance" else "%.3f"


def _sentence(name: str, kind: str) -> str:
    """The key of a column's label in the string table."""
    if name.endswith("_interval"):
        return "heads.column_interval"
    for sentence in (f"heads.{kind}_{name}", f"heads.metric_{name}", f"roles.{name}"):
        section, key = sentence.split(".")
        if key in table()[section]:
            return sentence
    raise KeyError(name)
