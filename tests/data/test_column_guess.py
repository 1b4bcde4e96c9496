import pytest

from explorer.core.errors import PairsError
from explorer.data.column_guess import (
    column_names,
    first_rows,
    is_numbers,
    looks_headed,
    prepared_mark,
    text_columns,
)
from tests.support.toy_sentences import as_table

TSV = as_table().encode()
SEEN = [("I see a dog.", "Je vois un chien."), ("Look!", "« Regarde ! »"), ("Why?", "为什么？")]


@pytest.mark.parametrize(
    ("first", "others", "headed"),
    [
        (("English", "French"), SEEN, True),
        (("original text", "my version"), SEEN, True),
        (("en", "fr"), [("dog", "chien"), ("cat", "chat")], True),
        (("bird", "oiseau"), [("dog", "chien"), ("cat", "chat")], False),
        (("Go!", "Va !"), SEEN, False),
        (("Go on", "Continue."), SEEN, False),
        (("1", "2"), SEEN, False),
        (("", ""), SEEN, False),
        (("English", "French"), [], False),
    ],
)
def test_what_headings_look_like(first, others, headed):
    assert looks_headed((first, *others), (0, 1)) is headed


def test_what_numbers_look_like():
    rows = (("id", "no"), ("1", "7 cats"), ("", "8"), ("1,000.5", "9"))
    assert is_numbers(rows, 0)
    assert not is_numbers(rows, 1)
    assert not is_numbers(rows, 2)
    assert not is_numbers((), 0)


IDS = [("17", "I see a dog.", "9,001", "Je vois un chien."), ("18", "Look!", "9,002", "Regarde !")]
HEADED = [("id", "English", "no", "French"), *IDS]


@pytest.mark.parametrize(
    ("rows", "columns", "names"),
    [
        (IDS, (1, 3), ("2", "4")),
        (HEADED, (1, 3), ("English", "French")),
        ([row[1:] for row in IDS], (0, 2), ("1", "3")),
        ([row[1::2] for row in IDS], (0, 1), ("1", "2")),
        ([row[1::2] for row in HEADED], (0, 1), ("English", "French")),
        ([("text", "text"), *SEEN], (0, 1), ("1", "2")),
        ([(*row[1::2], row[0]) for row in IDS], (0, 1), ("1", "2")),
        ([row[:2] for row in IDS], (0, 1), ("1", "2")),
        ([("7 3", "3 7", "1"), ("1 2", "2 1", "2")], (0, 1), ("1", "2")),
        ([("7 3", "3 7", "Ann"), ("1 2", "2 1", "Bo")], (0, 1), ("1", "2")),
        ([(*row[1::2], "Ann", "Bo") for row in IDS], (0, 1), ("1", "2")),
        ([], (0, 1), ("1", "2")),
    ],
)
def test_the_columns_of_texts_are_guessed_and_called_as_the_file_calls_them(rows, columns, names):
    assert text_columns(tuple(rows), "x.tsv") == columns
    assert column_names(tuple(rows), columns) == names


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [([(*row, "a tag") for row in IDS], "1, 3"), ([row[:3] for row in IDS], "1, 3")],
)
def test_columns_that_could_be_others_are_asked_for(rows, numbers):
    with pytest.raises(PairsError, match=f"numbers in the columns {numbers} of .*--columns 2,3"):
        text_columns(tuple(rows), "x.tsv")


@pytest.mark.parametrize(
    ("cell", "mark"),
    [
        ("l &apos; homme", "&apos;"),
        ("il dit &quot; oui", "&quot;"),
        ("rendez @-@ vous", "@-@"),
        ("the week@@ nd", "week@@"),
        ("ann@example.org & me@", ""),
        ("R&D @@ x@-@y &copy;", ""),
    ],
)
def test_marks_of_programs_that_prepare_texts_are_told(cell, mark):
    rows = (("a", "plain"), ("b", cell), ("c", "rest@@ less"))
    assert prepared_mark(rows[:2], 1) == mark
    assert prepared_mark(rows[:2], 0) == ""


def test_the_first_rows_are_read_without_the_rest_of_the_file():
    data = TSV + b"too late\t\xe9\n"
    assert len(first_rows(data, "late.tsv")) == 20
    assert first_rows(b"\0" + data, "binary.tsv") == ()
    assert first_rows(b'a,b\n"c"d,e\n' + b"1,2\n" * 300, "quotes.csv") == (("a", "b"),)
