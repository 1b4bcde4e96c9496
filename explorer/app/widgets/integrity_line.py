"""The measured integrity of the trace of the text, under the sections that do not draw it."""

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.core.trace import Trace


def integrity_line(trace: Trace, language: str) -> None:
    """Each check with its measured error; one that failed in red."""
    st.caption(" · ".join(integrity_texts(trace, language)))


def integrity_texts(trace: Trace, language: str) -> list[str]:
    """The checks as Markdown, in the words of the line under the maps."""
    return [_text(row, language) for row in trace.integrity().to_dict("records")]


def _text(row: Mapping[Hashable, Any], language: str) -> str:
    error, limit, check = row["error"], row["limit"], row["check"]
    expected = row["expected"] and error > limit
    outcome = "expected" if expected else "check" if row["ok"] else "failed"
    facts = {"error": _short(error), "limit": _short(limit)}
    text = f"{'✓' if row['ok'] else '✗'} {say(f'player.{outcome}_{check}', language, **facts)}"
    return literal(text) if row["ok"] else f":red[{literal(text)}]"


def _short(error: float) -> str:
    """0, or one digit and a power of ten, as in the browser."""
    if error == 0:
        return "0"
    digits, power = f"{error:.0e}".split("e")
    return f"{digits}e{int(power)}"
