"""A figure from Python, as a page: its labels and its title can be read."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page

import explorer

Box = dict[str, float]


def boxes(tab: Page, selector: str) -> list[Box]:
    """Where the elements stand, in px."""
    return tab.locator(selector).evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
    )


@pytest.mark.parametrize(("count", "labels"), [(5, 5), (60, 30), (100, 25)])
@pytest.mark.parametrize("word", ["a long token of a page ", "词"])
def test_no_label_lies_on_another_or_under_the_title(
    count: int, labels: int, word: str, new_tab: Callable[..., Page], tmp_path: Path
) -> None:
    tokens = [f"{word}{number}" for number in range(count)]
    weights = np.full((1, 1, count, count), 1 / count, np.float32)
    trace = explorer.Trace.from_arrays(tokens, encoder=weights)
    explorer.figure(trace, "encoder", 0, 0).write_html(tmp_path / "figure.html")
    tab = new_tab(900, 700, offline=True)
    tab.goto((tmp_path / "figure.html").as_uri())
    tab.wait_for_selector(".gtitle")
    keys, queries = boxes(tab, ".xtick text"), boxes(tab, ".ytick text")
    assert len(keys) == len(queries) == labels
    assert all(one["right"] <= other["left"] + 1 for one, other in pairwise(keys))
    assert all(one["bottom"] <= other["top"] + 1 for one, other in pairwise(queries))
    (title,), (axis,) = boxes(tab, ".gtitle"), boxes(tab, ".xtitle")
    assert title["top"] >= 0
    assert title["bottom"] <= axis["top"]
    assert axis["bottom"] <= min(key["top"] for key in keys) + 1
