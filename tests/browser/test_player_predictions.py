"""What a model predicts that predicts no tokens: the numbers on screen are those of the trace."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.html_export import html_page
from explorer.core.predictions import Prediction, PredictionKind
from explorer.core.trace import Trace
from tests.support.small_trace import small_trace

TOKENS = ("[CLS]", "▁The", "▁ca", "t", "[SEP]", "[PAD]")
STEPPER = ("first", "previous", "play", "next", "last", "step", "step-count", "ahead", "hint")


def predicting(
    kind: str,
    labels: tuple[str, ...],
    probabilities: list[float],
    places: list[tuple[int, int]] | None = None,
    chosen: tuple[int, ...] = (0,),
    ranks: list[int] | None = None,
) -> Trace:
    count = len(labels)
    spots = np.array(places or [(0, 5)] * count)
    columns = {
        "start": spots[:, 0],
        "stop": spots[:, 1],
        "rank": np.array(ranks or range(1, count + 1)),
        "value": np.linspace(-1.25, 2, count, dtype=np.float32),
        "probability": np.array(probabilities, np.float32),
        "chosen": np.isin(np.arange(count), chosen),
    }
    found = Prediction(PredictionKind(kind), labels, columns)
    size = len(TOKENS)
    plain = Trace.from_arrays(TOKENS, encoder=np.full((1, 2, size, size), 1 / size, np.float32))
    arrays = {**plain.arrays, **found.arrays}
    return replace(plain, arrays=arrays, facts=found.facts, text=found.text, digest="")


def rows(tab: Page) -> list[list[str]]:
    """The texts of each row, without the empty ones."""
    items = tab.get_by_test_id("predictions").locator(".candidate").all()
    return [
        [
            text.replace("\u00a0", " ")
            for text in row.locator(":scope > *").all_inner_texts()
            if text
        ]
        for row in items
    ]


def test_a_class_stands_in_place_of_the_next_token(show: Callable[..., Page]) -> None:
    trace = predicting("class", ("positive", "<b>no</b>"), [0.7321, 0.2679])
    tab = show(trace)
    expect(tab.get_by_test_id("predictions-title")).to_have_text("Predicted class")
    assert rows(tab) == [["1", "positive", "73.2 %", "✓"], ["2", "<b>no</b>", "26.8 %"]]
    expect(tab.get_by_test_id("candidates")).to_be_hidden()
    for part in STEPPER:
        expect(tab.get_by_test_id(part)).to_be_hidden()
    shares = tab.get_by_test_id("predictions").locator(".share")
    widths = shares.evaluate_all("bars => bars.map((bar) => bar.getBoundingClientRect().width)")
    assert widths[0] / widths[1] == pytest.approx(0.7321 / 0.2679, rel=0.02)


def test_a_score_without_a_sigmoid_has_no_bar(show: Callable[..., Page]) -> None:
    tab = show(predicting("score", ("relevance",), [np.nan]))
    assert rows(tab) == [["1", "relevance", "−1.250", "✓"]]
    expect(tab.get_by_test_id("predictions-note")).to_contain_text("no probability")
    assert tab.get_by_test_id("predictions").locator(".track").is_hidden()


def test_an_answer_is_marked_in_the_text(show: Callable[..., Page]) -> None:
    spans = [(1, 4), (0, 1)]
    tab = show(predicting("span", ("The cat", "[CLS]"), [0.5, 0.25], spans))
    answer = tab.get_by_test_id("strip-source").locator(".chip.answer")
    assert [text.strip("▁") for text in answer.all_inner_texts()] == ["The", "ca", "t"]
    expect(tab.get_by_test_id("predictions-note")).to_contain_text("CLS stands for no answer")


def test_each_token_has_its_tag(show: Callable[..., Page]) -> None:
    places = [(1, 2), (1, 2), (2, 3), (2, 3)]
    labels, shares = ("O", "B", "B", "O"), [0.9, 0.1, 0.6, 0.4]
    tab = show(predicting("tags", labels, shares, places, chosen=(0, 2), ranks=[1, 2, 1, 2]))
    found = [[text.strip("▁") for text in row] for row in rows(tab)]
    assert found == [["2", "The", "O", "90.0 %"], ["3", "ca", "B", "60.0 %"]]
    row = tab.get_by_test_id("predictions").locator(".candidate").nth(1)
    assert "O 40.0" in (row.get_attribute("title") or "")


def test_another_trace_brings_the_candidates_back(show: Callable[..., Page]) -> None:
    tab = show(small_trace())
    expect(tab.get_by_test_id("predictions-panel")).to_be_hidden()
    expect(tab.get_by_test_id("candidates")).to_be_visible()
    expect(tab.get_by_test_id("next")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_a_saved_page_has_them_and_long_labels_fit(
    open_html: Callable[..., Page], width: int, height: int
) -> None:
    labels = ("a label of many words " * 5, *(f"LABEL_{number}" for number in range(30)))
    shares = [0.4, *[0.02] * 30]
    page = html_page(predicting("labels", labels, shares), language="zh")
    tab = open_html(page, width, height)
    expect(tab.get_by_test_id("predictions-title")).to_have_text("预测的标签")
    assert len(rows(tab)) == 31
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    panel = tab.get_by_test_id("predictions-panel")
    assert panel.evaluate("(node) => node.scrollWidth <= node.clientWidth")
