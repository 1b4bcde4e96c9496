"""What is shown of a message, and when."""

import weakref

import pytest
import streamlit as st

from explorer.app.visitor_catalog import refuse_upload
from explorer.app.widgets import messages
from explorer.app.widgets.messages import Messages, literal, show_refused
from explorer.core.errors import ExplorerError


def read(text: str) -> str:
    """What Markdown shows for escaped text."""
    return text.replace("\\", "").replace("\u2060", "")


@pytest.mark.parametrize(
    "text", ["**b**", ":smile:", "www.x.y", "http://x.y", "a@b.c", "<b>x</b>", "$x$", "[a](b)"]
)
def test_no_markdown_is_left_and_nothing_is_lost(text):
    shown = literal(text)
    assert read(shown) == text
    assert text not in shown


def test_sentences_stay_as_they_are():
    assert literal("模型不认识 7 3 9") == "模型不认识 7 3 9"
    assert read(literal(str(ExplorerError("empty_text", known="1 2")))).startswith("The text is")


@pytest.mark.parametrize(
    ("names", "language", "sentence"),
    [
        (
            ("layer",),
            "en",
            "Part of this link could not be followed. The default is shown for: layer.",
        ),
        (
            ("pad", "site", "layer"),
            "en",
            "Part of this link could not be followed. The default is shown for: "
            "padding, kind of attention, layer.",
        ),
        (
            ("text",),
            "en",
            "Part of this link could not be followed. The default is shown for: "
            "text (more than 2000 characters).",
        ),
        (("layer",), "zh", "此链接未能全部打开；以下部分已改用默认值：层。"),
        (
            ("text", "head"),
            "zh",
            "此链接未能全部打开；以下部分已改用默认值：文本（超过 2000 个字符）、头。",
        ),
    ],
)
def test_one_refused_parameter_and_several_are_named(names, language, sentence):
    said: list[str] = []

    class Container:
        warning = staticmethod(said.append)

    show_refused(names, language, Container())
    assert [one.replace("\\", "") for one in said] == [sentence]  # escaped as Markdown


@pytest.fixture(autouse=True)
def state(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def test_reported_errors_are_shown_once():
    errors = tuple(ExplorerError("empty_text", known=known) for known in "12")
    for error in errors:
        messages.report(error)
    assert messages.take().errors == errors
    assert messages.take() == Messages()


def test_notices_are_shown_once():
    for notice in ("one", "two"):
        messages.notify(notice)
    assert messages.take().notices == ("one", "two")
    assert messages.take() == Messages()


class File:
    """The contents of a file that is refused."""


@pytest.mark.parametrize("report", [messages.report, refuse_upload])
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
