"""The keys of a presenter's remote step in Projector wherever the app shows steps or moments."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

PLACES = {
    "explore": ("?lang=en&model=reverse&text=7+3+9+1+4&step=2", "step-count", "step {}/6"),
    "lesson": ("?lang=en&lesson=query-and-key&card=2", "step-count", "step {}/6"),
    "training": ("train?lang=en&run=recorded/reverse", "moment-count", "moment {}/"),
}


@pytest.mark.parametrize("place", PLACES)
def test_they_step_in_projector(place: str, address: str, new_tab: Callable[..., Page]) -> None:
    query, testid, text = PLACES[place]
    tab = new_tab(1024, 768)
    tab.goto(address + query)
    tab.wait_for_selector(".plotted")
    count = tab.get_by_test_id(testid)
    tab.keyboard.press("p")
    expect(tab.locator("html[data-projector]")).to_be_attached()
    tab.keyboard.press("Home")
    expect(count).to_contain_text(text.format(1))
    for key, number in [("PageDown", 2), ("PageDown", 3), ("PageUp", 2)]:
        tab.keyboard.press(key)
        expect(count).to_contain_text(text.format(number))
