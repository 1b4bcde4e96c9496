"""What a section of Heads is asked, as a word of an address."""

import pytest

from explorer.core.section_questions import (
    KEY_PARTS,
    LONGEST_LABEL,
    QUESTIONS,
    CellQuestion,
    written,
)
from explorer.core.vocabulary import LONGEST_LINKED_TEXT

ASKED = [
    ("compare", "heads", "heads"),
    ("compare", "residual", "residual"),
    ("search", CellQuestion(offset=-1), "offset=-1"),
    ("search", CellQuestion(offset=0), "offset=0"),
    ("search", CellQuestion(key="▁chat", part="end"), "key=%E2%96%81chat&part=end"),
    (
        "search",
        CellQuestion("&", "=", 0, "same token"),
        "query=%26&key=%3D&offset=0&part=same+token",
    ),
]


@pytest.mark.parametrize(("section", "question", "word"), ASKED)
def test_a_question_is_written_and_read(section, question, word):
    assert written(section, question) == word
    assert QUESTIONS[section].read(word) == question


@pytest.mark.parametrize("section", QUESTIONS)
def test_what_is_asked_at_first_is_not_written(section):
    assert written(section, QUESTIONS[section].unset) == ""


def test_every_choice_on_screen_can_be_in_a_link():
    for part in KEY_PARTS:
        question = CellQuestion("𝄞" * LONGEST_LABEL, "𝄞" * LONGEST_LABEL, -999, part)
        word = written("search", question)
        assert QUESTIONS["search"].read(word) == question
        assert len(word) <= LONGEST_LINKED_TEXT


@pytest.mark.parametrize(
    ("section", "word"),
    [
        ("compare", "paths"),
        ("search", "offset=1000"),
        ("search", "offset=--1"),
        ("search", "part=middle"),
        ("search", "top=5"),
        ("search", "key="),
        ("search", f"key={'x' * (LONGEST_LABEL + 1)}"),
        ("search", "-1"),
    ],
)
def test_anything_else_is_refused(section, word):
    assert QUESTIONS[section].read(word) is None
