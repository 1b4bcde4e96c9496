"""The picture of pruning curves as an SVG file."""

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from explorer.components.pruning_drawing import broken_lines, pruning_drawing, text_width, ticks
from explorer.heads.pruning_report import PruningCurve, PruningPoint, PruningReport

LOSSES = tuple(
    PruningPoint(left, value, value - 0.5, value + 0.5)
    for left, value in ((4, 0.5), (2, 2.0), (0, 4.5))
)
BLEU = (PruningPoint(4, 50.0, 40.0, 60.0), PruningPoint(0, 0.0, 0.0, 0.0))
REPORT = PruningReport(
    {"model": "a <b> & c", "heads": 4, "sentences": 9, "draws": 10, "targets": "given"},
    (4, 2, 0),
    (4, 0),
    (PruningCurve("importance", (), LOSSES, BLEU), PruningCurve("random", (), LOSSES[:1])),
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_points_are_where_the_axes_say(language: str) -> None:
    root = ElementTree.fromstring(pruning_drawing(REPORT, "mine, 9 sentences.", language))
    assert root.get("lang") == language
    assert root.get("width") == "640"
    curves = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("stroke-width")]
    loss, start, bleu = (
        [tuple(map(float, point.split())) for point in path.removeprefix("M").split("L")]
        for path in curves
    )
    bottom = max(y for _, y in loss) + 0.5 / 5 * 250  # the highest of 0 to 5 in 250 px
    assert [x for x, _ in loss] == [64.0, 296.0, 528.0]  # 4, 2 and 0 heads
    heights = [round(bottom - y, 2) for _, y in loss]
    assert heights == [25.0, 100.0, 225.0]  # 0.5, 2 and 4.5 of 5
    assert start == [loss[0]]
    assert bleu[0][1] < bleu[1][1]  # 50 above 0
    height = float(root.get("height", ""))
    assert all(0 < y < height for points in (loss, bleu) for _, y in points)


def test_a_line_of_one_sentence_has_no_band() -> None:
    points = tuple(PruningPoint(left, 1.0, math.nan, math.nan) for left in (4, 2, 0))
    one = replace(REPORT, bleu_points=(), curves=(PruningCurve("importance", (), points),))
    drawn = pruning_drawing(one, "mine, 1 sentence.", "en").decode()
    assert "polygon" not in drawn
    assert "nan" not in drawn


def test_every_text_is_in_the_picture_and_escaped() -> None:
    root = ElementTree.fromstring(pruning_drawing(REPORT, "mine, 9 sentences.", "en"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[:2] == ["Pruning curves of a <b> & c", "mine, 9 sentences."]
    for label in ("loss (nats per token)", "BLEU", "heads left, of 4", "importance", "random"):
        assert label in texts
    assert texts[-1] is not None
    assert texts[-1].startswith("Attention explorer")


def test_an_empty_report_is_a_picture_of_its_axes() -> None:
    empty = PruningReport(REPORT.facts, (4, 2, 0), (), (PruningCurve("importance"),))
    texts = [text.text for text in ElementTree.fromstring(pruning_drawing(empty, "", "en"))]
    assert "heads left, of 4" in texts


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
