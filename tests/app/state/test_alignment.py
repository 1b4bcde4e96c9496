"""What is remembered of the alignment section of Heads."""

from pathlib import Path

import pytest
import streamlit as st

from explorer.app.state import alignment
from explorer.heads.alignment_jobs import REPORT_FILE, GoldTable
from explorer.heads.job_queue import Job


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that has just begun."""
    monkeypatch.setattr(st, "session_state", {})


def test_file_job_and_report_are_remembered_apart() -> None:
    assert (alignment.gold(), alignment.job(), alignment.report_key()) == (None, None, None)
    gold = GoldTable.of("mine.tsv", b"1 2\t2 1\t0-1 1-0\n")
    alignment.set_gold(gold)
    alignment.follow_job(Job(Path("somewhere"), REPORT_FILE))
    alignment.show_report("key")
    assert alignment.gold() == gold
    followed = alignment.job()
    assert followed is not None
    assert followed.folder == Path("somewhere")
    assert alignment.report_key() == "key"
    alignment.follow_job(None)
    assert alignment.job() is None
    assert alignment.gold() == gold
