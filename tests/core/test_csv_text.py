import csv
import io

import pandas as pd
import pytest

from explorer.core.csv_text import csv_bytes, csv_text, escaped
from tests.support.shared_examples import shared_examples


@pytest.mark.parametrize(("text", "cell"), shared_examples("csv"))
def test_a_formula_gets_a_quote_in_front_and_other_texts_stay(text, cell):
    """The examples are those of the test of `csv.ts`."""
    assert csv_text(pd.DataFrame({"text": [text], "n": [1]})) == f"text,n\r\n{cell},1\r\n"


@pytest.mark.parametrize("cell", [3, -0.5, None])
def test_what_is_no_text_stays(cell):
    assert escaped(cell) == cell


def test_the_whole_table_is_escaped_and_reads_back():
    table = pd.DataFrame(
        {"token": ["=1", "a,b", 'c"d', "e\rf"], "n": [-1, 2, 3, 4], "@x": [0.5] * 4}
    )
    rows = list(csv.reader(io.StringIO(csv_text(table), newline="")))
    assert rows[0] == ["token", "n", "'@x"]
    assert [row[0] for row in rows[1:]] == ["'=1", "a,b", 'c"d', "e\rf"]
    assert rows[1][1:] == ["-1", "0.5"]
    assert list(table.columns) == ["token", "n", "@x"]


def test_the_bytes_are_marked_as_utf_8():
    data = csv_bytes(pd.DataFrame({"token": ["甲"]}))
    assert data == b"\xef\xbb\xbftoken\r\n\xe7\x94\xb2\r\n"
