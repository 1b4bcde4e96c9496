"""Two texts in one map: the filter shows the queries of one and the keys of another."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.core.trace import Trace
from tests.support.page_checks import settle
from tests.support.small_trace import small_trace

TOKENS = ("[CLS]", "▁a", "▁ca", "t", "[SEP]", "▁dog", "[SEP]")
SECOND = 5


def pair_trace() -> Trace:
    size = len(TOKENS)
    plain = Trace.from_arrays(TOKENS, encoder=np.full((1, 2, size, size), 1 / size, np.float32))
    return replace(plain, facts={"second": SECOND, "pair": "dog"}, digest="")


def unmasked_cells(tab: Page, queries: int, keys: int) -> set[tuple[int, int]]:
    """The cells whose middle nothing covers, by the rectangles on screen."""
    clip = tab.locator(".clip").bounding_box()
    assert clip is not None
    covers = [
        box
        for of in ("queries", "keys")
        if (box := tab.get_by_test_id(f"pair-outside-{of}").bounding_box()) is not None
    ]
    found = set()
    for query, key in product(range(queries), range(keys)):
        x = clip["x"] + (key + 0.5) * clip["width"] / keys
        y = clip["y"] + (query + 0.5) * clip["height"] / queries
        if not any(
            box["x"] < x < box["x"] + box["width"] and box["y"] < y < box["y"] + box["height"]
            for box in covers
        ):
            found.add((query, key))
    return found


@pytest.mark.parametrize("words", [False, True])
def test_the_filter_leaves_the_queries_of_one_text_and_the_keys_of_another(
    show: Callable[..., Page], words: bool
) -> None:
    tab = show(pair_trace())
    size, second = len(TOKENS), SECOND
    if words:  # "▁ca", "t" are one
        tab.get_by_test_id("unit-words").click()
        size, second = size - 1, second - 1
    settle(tab)
    texts = {"a": range(second), "b": range(second, size)}
    assert unmasked_cells(tab, size, size) == set(product(range(size), range(size)))
    for queries, keys in product("ab", "ab"):
        tab.get_by_test_id(f"pair-{queries}{keys}").click()
        settle(tab)
        assert unmasked_cells(tab, size, size) == set(product(texts[queries], texts[keys]))
    tab.get_by_test_id("pair-all").click()
    settle(tab)
    assert unmasked_cells(tab, size, size) == set(product(range(size), range(size)))
    expect(tab.get_by_test_id("strip-source").locator(".chip.second")).to_contain_text("dog")


def test_one_text_has_no_filter(show: Callable[..., Page]) -> None:
    expect(show(small_trace()).get_by_test_id("pair-all")).to_be_hidden()
    alone = replace(pair_trace(), facts={"second": "5"}, digest="")
    expect(show(alone).get_by_test_id("pair-all")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_the_filter_fits(show: Callable[..., Page], width: int, height: int) -> None:
    tab = show(pair_trace(), "zh", size=(width, height))
    expect(tab.get_by_test_id("pair-bb")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
