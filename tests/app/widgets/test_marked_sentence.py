"""Sentences with the tokens of a cell marked."""

from explorer.app.widgets.marked_sentence import marked_sentence

QUERY, KEY = ":orange-background[:orange[**{}**]]", ":green-background[:green[**{}**]]"


def test_pieces_become_a_text_with_both_tokens_marked() -> None:
    pieces = ["<bos>", "▁My", "▁ca", "t", "▁", "sleeps", ".", "<eos>"]
    text = marked_sentence(pieces, "▁", query=3, key=1)
    assert text == f"{KEY.format('My')} ca{QUERY.format('t')} sleeps\\."


def test_a_special_is_shown_where_it_is_marked() -> None:
    assert marked_sentence(["7", "3", "<eos>"], "", key=2) == f"7 3 {KEY.format('eos')}"
    assert marked_sentence(["[CLS]", "it", "##s", "."], "##", query=2) == (
        f"it{QUERY.format('s')} \\."
    )


def test_a_token_that_looks_at_itself_has_both_marks() -> None:
    inner = QUERY.format("7")
    assert marked_sentence(["7"], "", 0, 0) == KEY.format(inner)


def test_nothing_in_a_text_is_read_as_markdown() -> None:
    assert marked_sentence(["*", "[x]"], "") == "\\* \\[x\\]"


def test_a_marked_space_is_seen() -> None:
    assert marked_sentence(["▁", "七"], "▁", key=0) == f"{KEY.format('▁')}七"
