import weakref

import pytest
import streamlit as st

from explorer.app.state import messages
from explorer.core.errors import ExplorerError


@pytest.fixture(autouse=True)
def state(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def test_reported_errors_are_shown_once():
    errors = tuple(ExplorerError("empty_text", known=known) for known in "12")
    for error in errors:
        messages.report(error)
    assert messages.take() == errors
    assert messages.take() == ()


def test_notices_are_shown_once():
    for notice in ("one", "two"):
        messages.notify(notice)
    assert messages.take_notices() == ("one", "two")
    assert messages.take_notices() == ()


def test_an_upload_error_is_shown_until_the_next_upload():
    error = ExplorerError("empty_text", known="1")
    messages.report_upload(error)
    assert messages.upload_error() is messages.upload_error() is error
    assert messages.take() == ()
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
