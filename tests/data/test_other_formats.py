import json

import pytest

from explorer.core.errors import PairsError
from explorer.data.delimited import decoded, table, texts
from explorer.data.parallel_corpus import parse_pairs, read_rows

ROWS = [{"translation": {"en": f'I see {n}, "him".', "fr": f"Je vois {n}."}} for n in range(60)]
UNITS = "".join(
    f'<tu><tuv xml:lang="en"><seg>I see {n}, {n}.</seg></tuv></tu>\n' for n in range(60)
)
TMX = f'<tmx version="1.4"><header srclang="en"/><body>\n{UNITS}</body></tmx>\n'
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'

REFUSED = {
    "JSON lines": ("json_file", "\n".join(map(json.dumps, ROWS))),
    "lists a line": ("json_file", "\n".join(json.dumps(["a, b", "c"]) for _ in ROWS)),
    "a JSON array": ("json_file", json.dumps(ROWS)),
    "an indented array": ("json_file", "\n" + json.dumps(ROWS, indent="\t")),
    "an object": ("json_file", json.dumps({"data": ROWS}, indent=1)),
    "TMX": ("xml_file", TMX),
    "declared TMX": ("xml_file", DECLARED + TMX),
    "XLIFF": ("xml_file", f"<xliff version='1.2'>\n{UNITS}</xliff>"),
    "cut XML": ("xml_file", DECLARED + UNITS),
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
        lambda: decoded(data, name),
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
    for kind, named in [("TMX", "TMX"), ("declared TMX", "TMX"), ("XLIFF", "XLIFF")]:
        with pytest.raises(PairsError, match=f"is {named}, and expected"):
            list(table(REFUSED[kind][1].encode(), "x"))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\tan object\n{"b": 2}\tanother\n',
        "[1]\n[2]\n",
        "[Music]\tnoise\n[1] a\tb\n",
        '["a quote\tb\n',
        f"{'[' * 100_000}\tb\n",
        "<b>I</b>\t<b>je</b>\n<b>you</b>\t<b>tu</b>\n",
        "<unk> a\tb\n<3\tlove\n",
        "a ||| b\tc\na ||| d\te\n",
        "a ||| b,c\na,d\n",
        "",
    ],
)
def test_tables_that_only_begin_like_another_format_are_read(text):
    assert decoded(text.encode(), "x") == text
    list(table(text.encode(), "x"))
