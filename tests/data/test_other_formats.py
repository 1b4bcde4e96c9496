import json

import pytest

from explorer.core.errors import FileError, PairsError
from explorer.data import delimited
from explorer.data.delimited import lines_or_table, table, texts
from explorer.data.parallel_corpus import (
    Pair,
    RowCounts,
    parse_column,
    parse_pairs,
    read_pairs,
    read_rows,
    read_table,
)

ROWS = [{"translation": {"en": f'I see {n}, "him".', "fr": f"Je vois {n}."}} for n in range(60)]
UNITS = "".join(
    f'<tu><tuv xml:lang="en"><seg>I see {n}, {n}.</seg></tuv></tu>\n' for n in range(60)
)
TMX = f'<tmx version="1.4"><header srclang="en"/><body>\n{UNITS}</body></tmx>\n'
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'

REFUSED = {
    "a JSON array": ("json_file", json.dumps(ROWS)),
    "an indented array": ("json_file", "\n" + json.dumps(ROWS, indent="\t")),
    "an object": ("json_file", json.dumps({"data": ROWS}, indent=1)),
    "XLIFF": ("xml_file", f"<xliff version='1.2'>\n{UNITS}</xliff>"),
    "another XML": ("xml_file", DECLARED.replace("tmx", "x") + f"<x>{UNITS}</x>"),
    "fast_align": ("bars_file", "".join(f"I see {n}, . ||| Je vois {n} .\n" for n in range(60))),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("name", ["pairs.csv", "pairs.tsv", "pairs.txt"])
def test_files_of_other_formats_are_refused_by_their_content(kind, encoding, name, tmp_path):
    key, text = REFUSED[kind]
    data = text.encode(encoding)
    (tmp_path / name).write_bytes(data)
    readers = [
        lambda: list(table(data, name)),
        lambda: list(texts(data, name)),
        lambda: list(lines_or_table(data, name)),
        lambda: parse_pairs(data, name),
        lambda: read_rows(tmp_path / name),  # of measure --pairs
    ]
    for read in readers:
        with pytest.raises(PairsError) as caught:
            read()
        assert caught.value.key == key
        assert name in str(caught.value)
        assert "TSV or CSV" in str(caught.value) or "a tab" in str(caught.value)


def test_the_format_of_xml_is_named():
    with pytest.raises(PairsError, match="is XLIFF, and expected"):
        list(table(REFUSED["XLIFF"][1].encode(), "x"))


PAIRS = [(f'I see {n}, "him".', f"Je vois {n}.") for n in range(60)]
SIDES = [{"en": source, "fr": target} for source, target in PAIRS]
SEGMENTS = "".join(
    f'<tu tuid="{n}"><prop>noise</prop><tuv xml:lang="en-GB"><seg>{source}</seg></tuv>\n'
    f'<tuv xml:lang="fr_FR"><seg>Je <bpt i="1">&lt;b&gt;<sub>no</sub></bpt><hi>vois</hi>\n {n}.'
    "</seg></tuv></tu>"
    for n, (source, _) in enumerate(PAIRS)
)
READ = {
    "of datasets": "\n".join(json.dumps({"id": 3, "translation": one}) for one in SIDES),
    "objects": "\ufeff" + "\r\n\n".join(json.dumps(one | {"score": 0.5}) for one in SIDES),
    "lists": "\n".join(map(json.dumps, PAIRS)),
    "TMX": f'<tmx version="1.4"><header srclang="en"/><body>{SEGMENTS}</body></tmx>',
    "declared TMX": DECLARED + f'<tmx><header srclang="EN-us"/><body>{SEGMENTS}</body></tmx>\n',
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("name", ["pairs.csv", "pairs.txt"])
def test_json_lines_and_tmx_are_read_by_every_door(kind, encoding, name, tmp_path):
    data = READ[kind].encode(encoding)
    (tmp_path / name).write_bytes(data)
    assert [tuple(row) for row in table(data, name)] == PAIRS
    assert list(texts(data, name)) == [source for source, _ in PAIRS]
    assert [tuple(row) for row in lines_or_table(data, name)] == PAIRS
    assert parse_pairs(data, name).counts == RowCounts(60, 60, 0, 0, 0)
    names = ("2", "1") if kind == "lists" else ("fr", "en")
    found = read_rows(tmp_path / name, names)
    assert [(pair.target, pair.source) for pair in found] == PAIRS


def test_the_source_language_of_a_tmx_is_the_first_column():
    """Also where the units begin with the other; what a unit lacks is blank."""
    text = READ["TMX"].replace('srclang="en"', 'srclang="fr-CA"')
    text = text.replace("</body>", '<tu><tuv xml:lang="de"><seg>nur</seg></tuv></tu></body>')
    rows = list(table(text.encode(), "x"))
    assert rows[0] == ["Je vois 0.", 'I see 0, "him".', ""]
    assert rows[-1] == ["", "", "nur"]
    assert next(table(text.encode(), "x", named=True)) == ["fr", "en", "de"]


BOMB = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">]>\n<tmx><body>&a;</body></tmx>'


@pytest.mark.parametrize(
    ("text", "key", "facts"),
    [
        (json.dumps(SIDES[0]) + '\n{"en": "a", fr}', "bad_json_line", {"line": 2, "column": 13}),
        (json.dumps(SIDES[0]) + "\n[1]\n", "no_texts_in_json", {"line": 2}),
        (json.dumps(SIDES[0]) + '\n\n{"en": "a", "fr": 3}', "no_texts_in_json", {"line": 3}),
        ('{"number": 1}\n{"number": 2}\n', "no_texts_in_json", {"line": 1}),
        (READ["TMX"].replace("</seg>", "", 1), "bad_tmx", {"line": 1, "column": 123}),
        (DECLARED + "<tmx><body>\n<tu>&x;</tu>", "bad_tmx", {"line": 4}),
        (BOMB, "bad_tmx", {"reason": "entity", "line": 1}),
    ],
)
def test_what_is_broken_is_named_with_its_line(text, key, facts):
    for read in (lambda: list(table(text.encode(), "x")), lambda: parse_pairs(text.encode(), "x")):
        with pytest.raises(PairsError) as caught:
            read()
        assert caught.value.key == key
        assert facts.items() <= caught.value.facts.items()
        assert "“x”" in str(caught.value)


def test_more_units_than_rows_may_be_are_not_cut_off(monkeypatch):
    monkeypatch.setattr(delimited, "MOST_ROWS", 59)
    with pytest.raises(PairsError) as caught:
        parse_pairs(READ["TMX"].encode(), "x")
    assert caught.value.key == "too_many_rows"


def test_files_that_are_parallel_are_a_table(tmp_path):
    """Named by the end of a path, also after it is made absolute; quotes and commas are text."""
    sides = list(zip(*PAIRS, strict=True))
    (tmp_path / "x.en").write_bytes("\n".join(sides[0]).encode("utf-16"))
    (tmp_path / "x.fr").write_text("\r\n".join(sides[1]) + "\r\n", "utf-8-sig")
    assert read_pairs(tmp_path / "x.en,x.fr").pairs == read_pairs_of(PAIRS)
    links = [f"A-{n}\t{n}-0" for n in reversed(range(60))]
    (tmp_path / "x.links").write_text("\n".join(links))
    data = read_table(tmp_path / "x.en,x.fr,x.links")
    assert parse_column(data, "x", "3") == [f"{n}-0" for n in range(60)]
    (tmp_path / "less").write_text("a\n")
    refused(tmp_path / "x.en,less", "not_parallel", "“x.en” 60, “less” 1")
    (tmp_path / "tabs").write_text("a\n" * 30 + "a\tb\n" * 30)
    refused(tmp_path / "x.en,tabs", "line_of_columns", "31")
    (tmp_path / "json").write_text(READ["objects"])
    refused(tmp_path / "x.en,json", "line_of_columns", "json")
    with pytest.raises(FileError):
        read_pairs(tmp_path / "x.en,none")
    (tmp_path / "a,b.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS))
    assert read_pairs(tmp_path / "a,b.tsv").pairs == read_pairs_of(PAIRS)


def read_pairs_of(pairs):
    return tuple(Pair(source, target) for source, target in pairs)


def refused(path, key, contains):
    with pytest.raises(PairsError) as caught:
        read_pairs(path)
    assert caught.value.key == key
    assert contains in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\tan object\n{"b": 2}\tanother\n',
        "[1]\n[2]\n",
        "[Music]\tnoise\n[1] a\tb\n",
        '["a quote\tb\n',
        '{"a": 1} and\tb\n',
        f"{'[' * 100_000}\tb\n",
        "<b>I</b>\t<b>je</b>\n<b>you</b>\t<b>tu</b>\n",
        "<unk> a\tb\n<3\tlove\n",
        "a ||| b\tc\na ||| d\te\n",
        "a ||| b,c\na,d\n",
        "",
    ],
)
def test_tables_that_only_begin_like_another_format_are_read(text):
    rows = list(lines_or_table(text.encode(), "x"))
    assert "".join("\t".join(row) + "\n" for row in rows) == text
    list(table(text.encode(), "x"))
