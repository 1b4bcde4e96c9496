import weakref

import pytest
import streamlit as st

from explorer.app.state import messages
from explorer.core.errors import ExplorerError


@pytest.fixture(autouse=True)
def state(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def test_a_reported_error_is_shown_once():
    error = ExplorerError("empty_text", known="1")
    messages.report(error)
    assert messages.take() is error
    assert messages.take() is None


def test_an_upload_error_is_shown_until_the_next_upload():
    error = ExplorerError("empty_text", known="1")
    messages.report_upload(error)
    assert messages.upload_error() is messages.upload_error() is error
    assert messages.take() is None
    messages.report_upload(None)
    assert messages.upload_error() is None


class File:
    """The contents of a file that is refused."""


@pytest.mark.parametrize("report", [messages.report, messages.report_upload])
def test_a_reported_error_keeps_nothing_of_what_was_refused(report):
    left: list[weakref.ref[File]] = []

    def read() -> None:
        contents = File()
        left.append(weakref.ref(contents))
        try:
            raise ValueError("not a number")
        except ValueError as error:
            raise ExplorerError("empty_text", known="1") from error

    try:
        read()
    except ExplorerError as error:
        report(error)
    assert left[0]() is None
