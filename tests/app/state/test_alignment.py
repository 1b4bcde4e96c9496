"""What is remembered of the alignment section of Heads."""

import pytest
import streamlit as st

from explorer.app.state import alignment
from explorer.jobs.alignment_jobs import GoldTable


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that has just begun."""
    monkeypatch.setattr(st, "session_state", {})


def test_file_and_report_are_remembered_apart() -> None:
    assert (alignment.gold(), alignment.report_key()) == (None, None)
    gold = GoldTable.of("mine.tsv", b"1 2\t2 1\t0-1 1-0\n")
    alignment.set_gold(gold)
    alignment.show_report("key")
    assert alignment.gold() == gold
    assert alignment.report_key() == "key"
