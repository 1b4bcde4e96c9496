import pytest

from explorer.core.errors import PairsError
from explorer.data.delimited import lines_or_table, table, texts


def rows(text: str) -> list[list[str]]:
    return list(table(text.encode(), "table"))


def test_lines_are_separated_by_tabs_alone_unless_the_name_says_csv():
    assert list(lines_or_table(b"\xef\xbb\xbfa, c\tb\r\n", "x")) == [["a, c", "b"]]
    assert list(lines_or_table("é, c\r\n".encode("utf-16"), "x")) == [["é, c"]]
    assert list(lines_or_table(b"a, c\n", "x.CSV")) == [["a", " c"]]
    with pytest.raises(PairsError, match="not UTF-8 in line 2"):
        list(lines_or_table(b"a\n\xe9", "x"))
    with pytest.raises(PairsError, match="binary file"):
        list(lines_or_table(b"a\0b", "x"))


def test_tabs_separate_and_leave_quotes_alone():
    assert rows('a\t"b\n\nc, d\te\n') == [["a", '"b'], ["c, d", "e"]]


@pytest.mark.parametrize("mark", [",", ";"])
def test_without_tabs_a_mark_separates_and_quotes_enclose(mark):
    assert rows(f'a{mark}"b{mark}\nc"\n\nd{mark}"e ""f"""\n') == [
        ["a", f"b{mark}\nc"],
        ["d", 'e "f"'],
    ]


def test_the_mark_is_the_one_by_which_most_rows_agree():
    assert rows("a;b, c\nd;e\nf;g, h, i\n")[2] == ["f", "g, h, i"]
    assert rows("a title, with; marks\na,b\nc,d\n")[1:] == [["a", "b"], ["c", "d"]]


def test_a_title_without_tabs_does_not_change_the_separator():
    assert rows("a title\na, b\tc\nd\te, f\n") == [["a title"], ["a, b", "c"], ["d", "e, f"]]


def test_rows_are_read_one_after_the_other():
    reader = table(b"a\tb\n" * 10_000 + b"\xff\tc\n", "table")
    assert next(reader) == ["a", "b"]
    with pytest.raises(PairsError, match="line 10001"):
        list(reader)


def test_commas_and_quotes_belong_to_a_text_a_line():
    lines = b'Well, I know.\n\nHe said "no\nYes; no, maybe\n'
    assert list(texts(lines.decode().encode("utf-16"), "texts.txt")) == list(texts(lines, "t.txt"))
    assert list(texts(lines, "texts.txt")) == ["Well, I know.", 'He said "no', "Yes; no, maybe"]


def test_texts_of_a_table_are_its_first_column():
    assert list(texts(b"a, b\tc\n\td\ne\tf\n", "texts.txt")) == ["a, b", "e"]
    name = f"{'long' * 30}.CSV"
    assert list(texts(b'"a, b",c\nd,e\n', name)) == ["a, b", "d"]
    with pytest.raises(PairsError, match="quotation mark"):
        list(texts(b'a,"b\n', name))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a\tb\nc".encode("utf-16")[:-1], "UTF-8 in line 2"),
        (b"a\0b", "binary"),
        (b'a,"b\n', "quotation mark"),
        (b'a,"' + b"b" * 100_001 + b'"\n', "100000 characters"),
    ],
)
def test_a_file_without_a_table_is_refused(data, message):
    with pytest.raises(PairsError, match=message):
        list(table(data, "table"))
