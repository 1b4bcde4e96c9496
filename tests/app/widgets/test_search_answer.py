"""An answer of a search in Markdown, with the tokens of a cell marked."""

import pytest

from explorer.app.widgets.search_answer import cell_in_sentence, marked_sentence, token_marks

SENTENCE = [(["▁I", "▁see"], "▁"), (["<bos>", "▁Je", "▁vois"], "▁")]
PREDICTED = ":orange[**→ %s**]"
QUERY, KEY = (f":{colour}-background[:{colour}[**%s**]]" for colour in ("orange", "green"))


@pytest.mark.parametrize(
    ("site", "cell", "lines"),
    [
        ("encoder", (0, 1), (f"{QUERY % 'I'} {KEY % 'see'}", "Je vois")),
        ("decoder", (2, 1), ("I see", f"{KEY % 'Je'} {QUERY % 'vois'}")),
        ("cross", (2, 1), (f"I {KEY % 'see'}", f"Je {QUERY % 'vois'}")),
        ("cross", (1, 1), (f"I {KEY % 'see'}", f"{QUERY % 'Je'} {PREDICTED % 'vois'}")),
        ("decoder", (0, 0), ("I see", f"{KEY % (QUERY % 'bos')} {PREDICTED % 'Je'} vois")),
    ],
)
def test_query_and_key_are_marked_on_their_sides(site, cell, lines):
    assert cell_in_sentence(SENTENCE, site, cell) == "  \n".join(lines)


def test_the_end_is_shown_where_the_last_row_predicts_it():
    sentence = [SENTENCE[0], ([*SENTENCE[1][0], "<eos>"], "▁")]
    line = cell_in_sentence(sentence, "cross", (2, 0)).splitlines()[1]
    assert line == f"Je {QUERY % 'vois'} {PREDICTED % 'eos'}"
    assert "eos" not in cell_in_sentence(sentence, "cross", (1, 0))
    pieces = [["▁"], ["<bos>", "▁ca", "t"]]
    assert cell_in_sentence([(one, "▁") for one in pieces], "decoder", (1, 1)).endswith("→ t**]")


def test_a_side_without_tokens_has_no_line():
    assert cell_in_sentence([([], ""), SENTENCE[1]], "decoder", (1, 1)).count("\n") == 0


def test_the_colours_are_explained_in_both_languages():
    assert token_marks("en")["key_token"] == ":green-background[Key token]"
    assert token_marks("zh")["query_token"] == ":orange-background[查询词元]"


def test_pieces_become_a_text_with_both_tokens_marked() -> None:
    pieces = ["<bos>", "▁My", "▁ca", "t", "▁", "sleeps", ".", "<eos>"]
    text = marked_sentence(pieces, "▁", query=3, key=1)
    assert text == f"{KEY % ('My')} ca{QUERY % ('t')} sleeps\\."


def test_a_special_is_shown_where_it_is_marked() -> None:
    assert marked_sentence(["7", "3", "<eos>"], "", key=2) == f"7 3 {KEY % ('eos')}"
    assert marked_sentence(["[CLS]", "it", "##s", "."], "##", query=2) == (f"it{QUERY % ('s')} \\.")


def test_a_token_that_looks_at_itself_has_both_marks() -> None:
    inner = QUERY % ("7")
    assert marked_sentence(["7"], "", 0, 0) == KEY % (inner)


def test_nothing_in_a_text_is_read_as_markdown() -> None:
    assert marked_sentence(["*", "[x]"], "") == "\\* \\[x\\]"


def test_a_marked_space_is_seen() -> None:
    assert marked_sentence(["▁", "七"], "▁", key=0) == f"{KEY % ('▁')}七"
