"""An answer of a search in Markdown."""

import pytest

from explorer.app.widgets.search_answer import cell_in_sentence, token_marks

SENTENCE = [(["▁I", "▁see"], "▁"), (["<bos>", "▁Je", "▁vois"], "▁")]
QUERY, KEY = (f":{colour}-background[:{colour}[**%s**]]" for colour in ("orange", "green"))


@pytest.mark.parametrize(
    ("site", "cell", "lines"),
    [
        ("encoder", (0, 1), (f"{QUERY % 'I'} {KEY % 'see'}", "Je vois")),
        ("decoder", (2, 1), ("I see", f"{KEY % 'Je'} {QUERY % 'vois'}")),
        ("cross", (2, 1), (f"I {KEY % 'see'}", f"Je {QUERY % 'vois'}")),
    ],
)
def test_query_and_key_are_marked_on_their_sides(site, cell, lines):
    assert cell_in_sentence(SENTENCE, site, cell) == "  \n".join(lines)


def test_a_side_without_tokens_has_no_line():
    assert cell_in_sentence([([], ""), SENTENCE[1]], "decoder", (1, 1)).count("\n") == 0


def test_the_colours_are_explained_in_both_languages():
    assert token_marks("en")["key_token"] == ":green-background[Key token]"
    assert token_marks("zh")["query_token"] == ":orange-background[查询词元]"
