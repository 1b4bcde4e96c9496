import tracemalloc
from collections import Counter
from typing import get_args

import numpy as np
import pytest

from explorer.core.errors import FileError, PairsError
from explorer.data.parallel_corpus import (
    FEWEST_PAIRS,
    FEWEST_SOURCES,
    HELD_OUT_FROM,
    Pair,
    Part,
    normalised,
    parse_pairs,
    read_pairs,
    read_rows,
    references,
)
from tests.support.toy_sentences import SENTENCES, as_table


def parse(text: str, columns: tuple[str, str] = ("1", "2"), name: str = "pairs.tsv"):
    return parse_pairs(text.encode(), name, columns)


def test_every_row_is_counted():
    blank = "\t\n  \tvide\nno target\t\n"
    again = "I see water now.\tJe vois de l'eau maintenant.\n"
    counts = parse(as_table() + "only one column\n" + blank + again + "\n").counts
    assert counts.incomplete == 1
    assert counts.blank == 3
    assert counts.duplicate == 1
    assert counts.kept == len(SENTENCES) == 240
    assert counts.rows == 245  # an empty line is no row
    assert counts.rows == counts.kept + counts.incomplete + counts.blank + counts.duplicate


def test_tabs_leave_quotes_alone():
    pairs = parse(as_table() + 'He said "no.\tIl a dit « non ».\n')
    assert Pair('He said "no.', "Il a dit « non ».") in pairs.pairs


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_csv_file_has_headings_and_quotes(separator):
    lines = [f'"{source}"{separator}x{separator}"{target}"' for source, target in SENTENCES]
    text = separator.join(("en", "note", "fr")) + "\n" + "\n".join(lines)
    pairs = parse(text, ("en", "fr"), "pairs.csv")
    assert pairs.pairs == tuple(Pair(*pair) for pair in SENTENCES)
    swapped = parse(text, ("fr", "en"), "pairs.csv")
    assert swapped.pairs[0] == Pair(*reversed(SENTENCES[0]))


def test_a_quoted_field_may_hold_a_line_break():
    rows = [f'"{source}","{target}"' for source, target in SENTENCES]
    pairs = parse("\n".join(['"two\nlines","deux\nlignes"', *rows]), name="pairs.csv")
    assert pairs.pairs[0] == Pair("two lines", "deux lignes")


def test_windows_line_ends_and_a_byte_order_mark_are_not_part_of_the_text():
    pairs = parse_pairs(b"\xef\xbb\xbf" + as_table().replace("\n", "\r\n").encode(), "x.tsv")
    assert pairs.pairs == tuple(Pair(*pair) for pair in SENTENCES)


def test_the_parts_are_apart_and_stay_when_the_file_is_sorted_otherwise():
    shouted = [(source.upper(), target) for source, target in SENTENCES[:50]]
    rows = [f"{source}\t{target}\n" for source, target in SENTENCES + shouted]
    one, other = parse("".join(rows)), parse("".join(reversed(rows)))
    seen: Counter[str] = Counter()
    for part in ("training", "dev", "test"):
        assert set(one.part(part)) == set(other.part(part))
        seen.update({normalised(pair.source) for pair in one.part(part)})
    assert set(seen.values()) == {1}  # a sentence is in one part, in capitals or not
    assert len({normalised(pair.source) for pair in one.part("test")}) == 240 // 20
    assert len(one.part("training")) + len(one.part("dev")) + len(one.part("test")) == 290


def test_references_gather_all_translations():
    pairs = [Pair("a", "x"), Pair("b", "y"), Pair("a", "z")]
    assert {source: set(found) for source, found in references(pairs).items()} == {
        "a": {"x", "z"},
        "b": {"y"},
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("one column\n" * 200, "No row"),
        ("one\ttwo\n" * 3, "“pairs” has 1 different pair; at least 30 are needed."),
        ("one\ttwo\nthree\tfour\n", "“pairs” has 2 different pairs; at least 30 are needed."),
        ("", "“pairs” is empty"),
        ("\n \n", "No row"),
        ("only sources\t\nx\n" * 500, "rows .1000. .* 500 with a blank side, 500 with too few"),
        (as_table().encode("utf-16")[:-1], "not UTF-8 in line 240"),
        (as_table().encode() + "trop tard\té\n".encode("latin-1"), "not UTF-8 in line 241"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50, "binary"),
        ('"a","b"\n"open,c\n' * 200, "quotation mark in line"),
        ('"a","b"\n' * 9 + f'"c","{"d" * 100_001}"', "than 100000 characters from line 10 on"),
    ],
)
def test_a_file_without_a_table_of_pairs_is_refused_in_a_sentence(data, words):
    data = data if isinstance(data, bytes) else data.encode()
    with pytest.raises(PairsError, match=words):
        parse_pairs(data, "pairs")


def test_a_mistake_far_down_in_a_file_is_found_with_its_line():
    data = (as_table() * 50).encode() + b"too late\t\xe9\n" + as_table().encode()
    with pytest.raises(PairsError, match=f"line {50 * 240 + 1};"):
        parse_pairs(data, "pairs.tsv")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_text_of_a_spreadsheet_is_read(encoding):
    text = as_table().replace("\n", "\r\n")
    mark = "" if encoding == "utf-16" else "\ufeff"  # the codec without a byte order writes one
    pairs = parse_pairs((mark + text).encode(encoding), "Book1.txt")
    assert pairs.pairs == tuple(Pair(*pair) for pair in SENTENCES)


@pytest.mark.parametrize("sources", [FEWEST_SOURCES, HELD_OUT_FROM - 1, HELD_OUT_FROM])
def test_of_few_sources_none_is_held_out(sources):
    rows = "".join(f"{n % sources} dogs\t{n} chiens\n" for n in range(300))
    pairs = parse(rows)
    assert pairs.holds_out == (sources == HELD_OUT_FROM)
    held_out = sources // 20 * 3 if pairs.holds_out else 0  # three translations of each
    sizes = {name: len(pairs.part(name)) for name in get_args(Part)}
    assert sizes == {"training": 300 - 2 * held_out, "dev": held_out, "test": held_out}


@pytest.mark.parametrize("sources", [10, FEWEST_SOURCES - 1, FEWEST_SOURCES])
def test_there_are_enough_sources(sources):
    """The same sentence in capitals is no other one."""
    rows = [
        f"{('dog', 'DOG!')[number % 2]} {number % sources}\tchien {number}\n"
        for number in range(312)
    ]
    if sources < FEWEST_SOURCES:
        words = f"has {sources} different sources; at least {FEWEST_SOURCES}"
        with pytest.raises(PairsError, match=words):
            parse("".join(rows))
    else:
        assert len(parse("".join(rows)).part("training")) == 312


@pytest.mark.parametrize("title", ["My pairs", "Pairs, mine; and others, too", "#\n\n# by me\n#"])
def test_a_title_above_the_columns_is_skipped(title):
    counts = parse(f"{title}\n{as_table()}").counts
    assert counts.kept == 240
    assert counts.incomplete == len([line for line in title.splitlines() if line])


@pytest.mark.parametrize("mark", [",", ";"])
def test_commas_in_sentences_do_not_separate_columns(mark):
    lines = ["en" + mark + "fr"]
    for number, (source, target) in enumerate(SENTENCES):
        extra = ", " * (number % 3) + "; " * (number % 2) + ("\t" if number % 5 == 0 else "")
        lines.append(f'"{source} {extra}."{mark}"{target} {extra}."')
    assert parse("\n".join(lines), ("en", "fr")).counts.kept == 240


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_do_on_any_machine_and_nowhere_else(end):
    text = as_table().replace(".", ".\u2028\x85 !").replace("\n", end)
    assert parse(text).counts.rows == 240


def test_a_large_file_is_not_held_as_text_and_rows_at_once():
    """Beside what is kept there is no room for all its text, its lines or its rows."""
    data = "".join(f"Sentence {n} ’\tPhrase {n} ’\n" for n in range(60_000)).encode()
    tracemalloc.start()
    try:
        pairs = parse_pairs(data, "large.tsv")
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert pairs.counts.kept == 60_000
    assert peak < kept + 5e6


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        *((("1", "1"), "two different"), (("1",), "two different")),
        *((("en", "fr"), "no column called"), (("1", "0"), "no column called “1”")),
        (("9" * 5000, "1"), "no column called “9{24,60}…”"),
    ],
)
def test_missing_columns_are_refused(columns, words):
    with pytest.raises(PairsError, match=words):
        parse_pairs(as_table().encode(), "pairs.tsv", columns)


def test_another_column_than_there_are_is_refused():
    with pytest.raises(PairsError, match="No row"):
        parse(as_table(), ("1", "5"))


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.tsv"
    with path.open("wb") as file:
        file.truncate(2 * 2**30)  # a hole: takes no room
    with pytest.raises(PairsError, match="2048 MB"):
        read_pairs(path)
    with pytest.raises(FileError, match="cannot be read"):
        read_pairs(tmp_path / "none.tsv")


def test_another_script_is_read(tmp_path):
    rows = "".join(f"{number} cats\t{number}只猫\n" for number in range(FEWEST_PAIRS))
    assert parse(rows).pairs[7] == Pair("7 cats", "7只猫")


def test_sources_without_letters_are_sentences_of_their_own():
    assert normalised("?!") != normalised("...")
    assert normalised("It's “late”.") == normalised("its late!")


@pytest.mark.parametrize("read", [read_pairs, read_rows])
def test_a_matrix_is_no_path(read):
    with pytest.raises(FileError, match="ndarray"):
        read(np.ones((2, 2)))
