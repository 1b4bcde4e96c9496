import pytest

from explorer.data.column_guess import first_rows, is_numbers, looks_headed
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


def test_the_first_rows_are_read_without_the_rest_of_the_file():
    data = TSV + b"too late\t\xe9\n"
    assert len(first_rows(data, "late.tsv")) == 20
    assert first_rows(b"\0" + data, "binary.tsv") == ()
    assert first_rows(b'a,b\n"c"d,e\n' + b"1,2\n" * 300, "quotes.csv") == (("a", "b"),)
