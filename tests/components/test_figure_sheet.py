"""The sheet of an SVG figure."""

import xml.etree.ElementTree as ElementTree

import pytest

from explorer.components.figure_sheet import broken_lines, figure, text_width, ticks

SVG = "{http://www.w3.org/2000/svg}"


def test_a_figure_has_title_caption_and_drawing_above_each_other() -> None:
    def draw(top: float) -> tuple[list[str], float]:
        return [f'<path d="M0 {top}v40"/>'], top + 40

    root = ElementTree.fromstring(figure("a < b", "Long caption. " * 9, draw, "zh", 320))
    texts = list(root.iter(f"{SVG}text"))
    assert [texts[0].text, root.get("width"), root.get("lang")] == ["a < b", "320", "zh"]
    lines = [float(text.get("y", "")) for text in texts]
    (path,) = root.iter(f"{SVG}path")
    top = float(path.get("d", "").removeprefix("M0 ").removesuffix("v40"))
    assert lines == sorted(lines)
    assert lines[-2] < top < top + 40 < lines[-1] < float(root.get("height", ""))
    assert (texts[-1].text or "").startswith("Attention explorer")


@pytest.mark.parametrize(
    ("highest", "expected"),
    [
        (5.0, [0, 1, 2, 3, 4, 5]),
        (7.3, [0, 2, 4, 6, 8]),
        (0.04, [0, 0.01, 0.02, 0.03, 0.04]),
        (61.0, [0, 20, 40, 60, 80]),
    ],
)
def test_ticks_are_round_and_reach_the_highest(highest: float, expected: list[float]) -> None:
    assert ticks(highest) == pytest.approx(expected)
    assert len(ticks(0.0)) > 1


def test_lines_are_broken_between_words_and_in_chinese_between_characters() -> None:
    assert broken_lines("one two three", text_width("one two ")) == ["one two", "three"]
    assert broken_lines("一二三四五", text_width("一二三")) == ["一二三", "四五"]
    assert broken_lines("a 一二 b", 1000) == ["a 一二 b"]
    assert broken_lines("", 10) == []
