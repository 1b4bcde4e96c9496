import pytest

from explorer.core.alignment import Gold
from explorer.core.errors import AlignmentError, PairsError
from explorer.data.parallel_corpus import Pair
from explorer.heads.alignment.gold_file import (
    AlignmentFile,
    GivenTokens,
)

ROW = "I'm here.\t我在这里。\t0-0 1?0 2-2 3-3\tI 'm here .\t我 在 这里 。\n"
FIVE = ("1", "2", "3", "4", "5")


def parsed(text: str, columns: tuple[str, ...] = FIVE, unit: str | None = None) -> AlignmentFile:
    return AlignmentFile.parse(text.encode(), "x.tsv", columns, unit)


def test_a_table_holds_texts_links_and_tokens() -> None:
    found = parsed(ROW)
    assert found.pairs == (Pair("I'm here.", "我在这里。"),)
    assert isinstance(found.tokens, GivenTokens)
    assert found.tokens.pairs == ((("I", "'m", "here", "."), ("我", "在", "这里", "。")),)
    assert found.gold is not None
    sure = frozenset({(0, 0), (2, 2), (3, 3)})
    assert found.gold.links == (Gold(sure, sure | {(1, 0)}),)
    headed = f"en\tzh\tlinks\ttokens en\ttokens zh\n{ROW}"
    assert parsed(headed, ("en", "zh", "links", "tokens en", "tokens zh")) == found
    for written in (f"\ufeff{ROW}", ROW.replace("\n", "\r\n"), ROW.rstrip("\n"), f"{ROW}\n\n"):
        assert parsed(written) == found


def test_the_columns_say_what_is_counted() -> None:
    assert parsed(ROW, FIVE[:2]).tokens == "pieces"
    assert parsed(ROW, FIVE[:3]).tokens == "whitespace"
    assert parsed(ROW, FIVE, "words").tokens == "words"
    without_links = parsed(ROW, ("1", "2", "4", "5"))
    assert without_links.gold is None
    assert without_links.tokens == parsed(ROW).tokens


def test_rows_that_are_blank_throughout_are_no_rows() -> None:
    assert parsed(f"\t \t\t\t\n{ROW}\t\t\t\t\n") == parsed(ROW)
    with pytest.raises(PairsError, match=r"Row 2 of “x\.tsv” has no two texts"):
        parsed(f"{ROW}\t\t0-0\t\t\n")


def test_a_last_row_without_links_is_a_row() -> None:
    found = parsed(f"{ROW}Yes.\t是。\t\tYes .\t是 。\n")
    assert found.gold is not None
    assert [len(links.possible) for links in found.gold.links] == [4, 0]


@pytest.mark.parametrize(
    ("text", "columns", "unit", "sentence"),
    [
        (ROW, FIVE[:1], None, "Columns named: 1"),
        (ROW, (*FIVE, "6"), None, "Columns named: 6"),
        (ROW, FIVE[:3], "columns", "--columns 1,2,3,4,5"),
        (ROW, FIVE, "letters", "no unit “letters”"),
        ("", FIVE, None, "no sentence pairs"),
        (ROW.replace("0-0 1?0 2-2 3-3", ""), FIVE, None, "no links in column 3"),
        (ROW.replace("0-0", "0:0"), FIVE, None, "“0:0” in line 1 .* character 1 of"),
        (ROW + ROW.replace(" 'm", " am"), FIVE, None, "Row 2 of “x.tsv”: the text .*“'m here.”"),
        (ROW.replace("\t我 在 这里 。", "\t "), FIVE, None, "Row 1 of “x.tsv”: .* tokens with “”"),
        (ROW, ("1", "2", "9"), None, "“x.tsv” has no column 9: its widest row has 5"),
        (ROW.replace("0-0", f"0-{'9' * 5000}"), FIVE, None, "“0-9+…” in line 1 of “x.tsv”, "),
        (ROW, FIVE, "pieces", "count the tokens in columns 4, 5, not pieces of the model"),
    ],
)
def test_other_tables_are_refused_in_one_sentence(
    text: str, columns: tuple[str, ...], unit: str | None, sentence: str
) -> None:
    with pytest.raises(AlignmentError, match=sentence) as refused:
        parsed(text, columns, unit)
    assert "\n" not in str(refused.value)


def test_a_column_of_thousands_of_digits_is_refused_in_a_short_sentence() -> None:
    with pytest.raises(PairsError, match=r"no column called “9+…”") as refused:
        parsed(ROW, ("1", "2", "9" * 5000))
    assert len(str(refused.value)) < 300


def test_a_file_that_is_no_table_is_refused() -> None:
    for data, sentence in ((b"a\0b", "binary"), (ROW.encode("utf-16")[:-1], "UTF-8")):
        with pytest.raises(PairsError, match=sentence):
            AlignmentFile.parse(data, "x.tsv", FIVE)


def test_links_that_count_from_one_and_stay_in_range_are_refused() -> None:
    three = ("1", "2", "3")
    off_by_one = "a b c .\ta b c .\t1-1 2-2 3-3\n"
    assert parsed(9 * off_by_one, three).gold is not None  # too few pairs to tell
    with pytest.raises(AlignmentError, match=r"uses token 0 .* in 10 pairs .* subtract 1"):
        parsed(10 * off_by_one, three)
    for first in ("0-1", "1-0", "0p2"):
        assert parsed(10 * off_by_one + f"a b\ta b\t{first}\n", three).gold is not None
