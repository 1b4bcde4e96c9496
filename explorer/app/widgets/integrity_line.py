"""The measured integrity of the trace of the text, below sections that do not draw it."""

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.core.interventions import expected_sentence
from explorer.core.trace import Trace
from explorer.core.trace_checks import is_checked_earlier


def integrity_line(trace: Trace, language: str) -> None:
    """Draw the number of passed checks, which opens to each check with its measured error. Failed
    checks are beside it, in red."""
    with st.container(key="integrity", horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover(integrity_summary(trace, language)):
            for text, about in zip(
                integrity_texts(trace, language), _meanings(trace, language), strict=True
            ):
                st.caption(f"**{text}**  \n{literal(about)}")
        checks = zip(integrity_texts(trace, language), trace.integrity().ok, strict=True)
        if failed := [text for text, ok in checks if not ok]:
            st.caption(" · ".join(failed), width="content")


def integrity_summary(trace: Trace, language: str) -> str:
    """ "✓ 6 checks", as under the maps."""
    checks = trace.integrity()
    unavoidable = int((checks.expected & (checks.error > checks.limit)).sum())
    facts = {"count": len(checks), "failed": int((~checks.ok).sum()), "expected": unavoidable}
    outcome = "failed" if facts["failed"] else "expected" if unavoidable else "passed"
    line = say(f"player.checks_{outcome}", language, **facts)
    if is_checked_earlier(trace.measured, trace.facts):
        return f"{line} · {say('player.checked_earlier', language)}"
    return line


def integrity_texts(trace: Trace, language: str) -> list[str]:
    """The checks as Markdown, in the words of the line under the maps."""
    rows = trace.integrity().to_dict("records")
    return [_text(row, trace.facts, language) for row in rows]


def _meanings(trace: Trace, language: str) -> list[str]:
    """The quantity that each check measures, in a sentence each."""
    rows = trace.integrity().to_dict("records")
    return [
        say(f"player.about_{row['check']}", language, limit=_short(row["limit"])) for row in rows
    ]


def _text(row: Mapping[Hashable, Any], facts: Mapping[str, Any], language: str) -> str:
    error, limit, check = row["error"], row["limit"], row["check"]
    sentence = f"player.{'check' if row['ok'] else 'failed'}_{check}"
    if row["expected"] and error > limit:
        sentence = expected_sentence(check, facts)
    text = say(sentence, language, error=_short(error), limit=_short(limit))
    text = f"{'✓' if row['ok'] else '✗'} {text}"
    return literal(text) if row["ok"] else f":red[{literal(text)}]"


def _short(error: float) -> str:
    """0, or one digit and a power of ten, as in the browser."""
    if error == 0:
        return "0"
    digits, power = f"{error:.0e}".split("e")
    return f"{digits}e{int(power)}"
