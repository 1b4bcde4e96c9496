import pytest

from explorer.errors import ExplorerError
from explorer.notice import plain


def read(text: str) -> str:
    """What a reader of Markdown shows for escaped text."""
    return text.replace("\\", "").replace("\u2060", "")


@pytest.mark.parametrize(
    "text", ["**b**", ":smile:", "www.x.y", "http://x.y", "a@b.c", "<b>x</b>", "$x$", "[a](b)"]
)
def test_no_mark_is_left_and_nothing_is_lost(text):
    told = plain(text)
    assert read(told) == text
    assert text not in told


def test_sentences_stay_as_they_are():
    assert plain("模型不认识 7 3 9") == "模型不认识 7 3 9"
    assert read(plain(str(ExplorerError("empty_text", known="1 2")))).startswith("The text is")
