"""What a visitor asks of a corpus."""

import pytest
import streamlit as st

from explorer.app.state import search
from explorer.app.state.search import Question


def test_a_question_is_asked_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    assert search.question() == Question()
    search.ask(query="the", offset=-1)
    search.ask(offset=None, part="end")
    assert search.question() == Question(query="the", part="end")
