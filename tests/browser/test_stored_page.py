"""A page that an earlier version saved still opens and steps."""

import gzip
from pathlib import Path

from playwright.sync_api import Page, expect

PAGE = Path(__file__).parents[1] / "frozen" / "page.html.gz"


def test_a_saved_page_of_an_earlier_version_opens_and_steps(open_html):
    page: Page = open_html(gzip.decompress(PAGE.read_bytes()).decode(), 1440)
    slider = page.get_by_role("slider", name="Step")
    page.get_by_role("button", name="First").click()
    expect(slider).to_have_value("1")
    page.get_by_role("button", name="Next").click()
    expect(slider).to_have_value("2")
    expect(page.locator("svg.main-svg").first).to_be_visible()
