import pytest

from explorer.app.widgets.messages import plain, refuse_parts
from explorer.core.errors import ExplorerError


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


@pytest.mark.parametrize(
    ("names", "language", "sentence"),
    [
        (
            ("layer",),
            "en",
            "Not all of this link could be followed; the default is shown for: layer.",
        ),
        (
            ("pad", "site", "layer"),
            "en",
            "Not all of this link could be followed; the default is shown for: "
            "padding, kind of attention, layer.",
        ),
        (
            ("text",),
            "en",
            "Not all of this link could be followed; the default is shown for: "
            "text (more than 2000 characters).",
        ),
        (("layer",), "zh", "此链接未能全部打开；以下部分已改用默认值：层。"),
        (
            ("text", "head"),
            "zh",
            "此链接未能全部打开；以下部分已改用默认值：文本（超过 2000 个字符）、头。",
        ),
    ],
)
def test_a_refused_link_reads_right_for_one_part_and_for_many(names, language, sentence):
    said: list[str] = []

    class Place:
        warning = staticmethod(said.append)

    refuse_parts(names, language, Place())
    assert said == [sentence]
