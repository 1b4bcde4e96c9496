"""Why a head looks at a key: the score of a cell as a sum, in the panel Inside."""

import re

import pytest
from playwright.sync_api import expect

import explorer
from explorer.core import folders

QUERY = "?lang=en&model=reverse&text=7+3+9&pad=2&site=encoder&layer=0&head=3&cell=2.0"


def signed(value: float, digits: int = 3) -> str:
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def test_the_parts_of_a_score_are_those_of_python(address, new_tab):
    model = explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")
    found = model.score_parts("7 3 9", "encoder", 0, 3, query=2, key=0, pad_to=6)
    tab = new_tab(1440, 900)
    tab.goto(address + QUERY)
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("inside_part-score").click()
    names = {"token": "content", "position": "position", "bias": "bias"}
    bars = tab.get_by_test_id("score-bars").get_by_role("listitem")
    expect(bars).to_have_count(10)  # nine parts and their sum
    for bar, row in zip(bars.all(), found.parts.itertuples(), strict=False):
        name = f"{names[row.query_part]} × {names[row.key_part]}: {signed(row.value)};"
        expect(bar).to_have_attribute("title", re.compile("^" + re.escape(name)))
    expect(bars.last).to_contain_text(signed(found.score, 2))
    numbers = [text.replace("−", "-") for text in bars.locator(".value").all_inner_texts()]
    *printed, score = map(float, numbers)
    assert sum(printed) == pytest.approx(score, abs=0.0051)
    expect(tab).to_have_url(re.compile(r"[?&]inside=score(&|$)"))
    box = tab.get_by_test_id("inside").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
    tab.get_by_test_id("site-cross").click()
    tab.get_by_test_id("head-1-2").click()
    expect(tab.get_by_test_id("score-sentence")).to_contain_text("49 products")
    expect(bars).to_have_count(12)
    tab.get_by_test_id("inside_part-cell").click()
    expect(tab.get_by_test_id("score-parts")).to_be_hidden()
