"""The picture of pruning curves as an SVG file."""

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from explorer.components.figure_sheet import text_width
from explorer.components.pruning_drawing import pruning_drawing
from explorer.core import folders
from explorer.heads.pruning.pruning_report import PruningCurve, PruningPoint, PruningReport

LOSSES = tuple(
    PruningPoint(left, value, 0, 9, value - 1.0, value)
    for left, value in ((4, 0.5), (2, 2.0), (0, 4.5))
)
BLEU = (PruningPoint(4, 50.0, 40.0, 60.0), PruningPoint(0, 0.0, 0.0, 0.0))
REPORT = PruningReport(
    {"model": "a <b> & c", "heads": 4, "sentences": 9, "draws": 10, "targets": "given"},
    (4, 2, 0),
    (4, 0),
    (
        PruningCurve("importance", (), LOSSES, BLEU),
        PruningCurve("random", (), (PruningPoint(4, 0.5, 0.25, 0.75),)),
    ),
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
    names = {"en": ("importance", "random"), "zh": ("重要性", "随机")}
    right = 640 - 22 - max(map(text_width, names[language]))
    assert [x for x, _ in loss] == pytest.approx([64, (64 + right) / 2, right], abs=0.01)
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
    assert texts[:2] == ["Pruning curves of a <b> & c (unfinished)", "mine, 9 sentences."]
    for label in ("loss (nats per token)", "BLEU", "heads left, of 4", "importance", "random"):
        assert label in texts
    assert texts[-1] is not None
    assert texts[-1].startswith("Attention explorer")


def test_an_empty_report_is_a_picture_of_its_axes() -> None:
    empty = PruningReport(REPORT.facts, (4, 2, 0), (), (PruningCurve("importance"),))
    texts = [text.text for text in ElementTree.fromstring(pruning_drawing(empty, "", "en"))]
    assert "heads left, of 4" in texts


def boxes(drawing: bytes) -> list[tuple[str, float, float, float]]:
    """Each text that is not turned: the text, its left and right end and its baseline, px."""
    found = []
    for text in ElementTree.fromstring(drawing).iter(f"{SVG}text"):
        if text.get("transform") is None:
            label, x = text.text or "", float(text.get("x", ""))
            wide = text_width(label)
            left = (
                x - {"start": 0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "start")]
            )
            found.append((label, left, left + wide, float(text.get("y", ""))))
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_in_one_column_no_text_is_cut_and_no_two_overlap(language: str) -> None:
    shipped = PruningReport.load(folders.shipped_prunings() / "reverse.json")
    drawing = pruning_drawing(shipped, "reverse, held out, 256 sentences.", language, "one")
    assert ElementTree.fromstring(drawing).get("width") == "320"
    texts = boxes(drawing)
    assert {"24", "0"} <= {label for label, *_ in texts}
    for number, (label, left, right, y) in enumerate(texts):
        assert left >= 0, label
        assert right <= 320, label
        for other, start, end, line in texts[:number]:
            assert abs(y - line) >= 13 or end <= left or right <= start, (label, other)
