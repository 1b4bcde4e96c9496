"""Pages that earlier versions saved still open: pictures of a trace, and one with a model."""

import gzip
import re
import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.core.trace import Trace
from tests.support.static_site_page import type_source

FROZEN = Path(__file__).parents[1] / "frozen"
LATER = FROZEN / "6467bcc3"


def first_page() -> str:
    return gzip.decompress((FROZEN / "page.html.gz").read_bytes()).decode()


def later_page(name: str) -> str:
    with tarfile.open(LATER / "pages.tar.xz") as pages:
        file = pages.extractfile(f"{name}.html")
        assert file is not None
        return file.read().decode()


@pytest.mark.parametrize("version", ["adde2c6", "6467bcc3"])
def test_a_saved_page_of_an_earlier_version_opens_and_steps(version, open_html):
    html = first_page() if version == "adde2c6" else later_page("page")
    page: Page = open_html(html, 1440)
    slider = page.get_by_role("slider", name="Step")
    page.get_by_role("button", name="First").click()
    expect(slider).to_have_value("1")
    page.get_by_role("button", name="Next").click()
    expect(slider).to_have_value("2")
    expect(page.locator("svg.main-svg").first).to_be_visible()


def test_a_saved_page_opens_at_its_cell_and_has_its_numbers(open_html):
    page: Page = open_html(later_page("page"), 1440)
    expect(page.get_by_role("slider", name="Step")).to_have_value("2")
    trace = Trace.load(LATER / "full.trace")
    product = trace.query_vectors("cross")[0, 1, 1] @ trace.key_vectors("cross")[0, 1, 1]
    text = f"sum {product:.2f}".replace("-", "−")
    expect(page.get_by_test_id("inside-product")).to_contain_text(text)
    page.get_by_test_id("inside_part-after").click()
    logit = f"{trace.arrays['logits'][1].max():.2f} → "
    expect(page.get_by_test_id("path-logits-text")).to_contain_text(logit)


def test_a_page_with_a_model_decodes_what_is_typed(open_html):
    page: Page = open_html(later_page("live"), 1440)
    expect(page.get_by_test_id("model-name")).to_have_text("toy")
    output = page.get_by_test_id("output")
    expect(output).to_have_text(Trace.load(LATER / "pattern.trace").text)
    type_source(page, "2")
    expect(output).to_have_text("3 3")  # as in toy.index
    expect(page).to_have_url(re.compile("text=2"))
