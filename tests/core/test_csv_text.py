import csv
import io

import pandas as pd
import pytest

from explorer.core.csv_text import csv_bytes, csv_text, escaped


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"),
        *("＝1+1", "＋1", "－1", "＠SUM", "﹦1", "﹢1", "﹣1", "﹫1", "−1"),
        *(" =1", "   +1", "\u00a0=1", "\u3000=1", "\u200b=1", "\ufeff=1", "\u2060＝1", "\u00ad-1"),
        *("\u202e=1", "\x00=1", "\x1f=1", "\ufe0f=1", "\u3164=1", "\u2800=1", "\u034f@x"),
    ],
)
def test_a_formula_gets_a_quote_in_front(text):
    assert escaped(text) == f"'{text}"


@pytest.mark.parametrize(
    "cell", ["", " ", "a=1", "1-2", "甲", "▁the", "'=1", "<eos>", 3, 0.5, None]
)
def test_other_cells_stay(cell):
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
