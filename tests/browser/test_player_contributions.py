"""Contributions beside attention, in the large map and along the target."""

import re

import pytest
from playwright.sync_api import expect

import explorer
from explorer.core import folders
from explorer.heads.contributions.agreement import agreement_on_trace
from explorer.heads.contributions.layer_contributions import layer_contributions
from tests.support.player_page import cell_center, save

QUERY = "?lang=en&model=reverse&text=7+3+9&pad=2&site=cross&layer=1&head=2&step=2&ahead=0"


@pytest.fixture(scope="module")
def model() -> explorer.ExplorableModel:
    return explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")


def test_a_visitor_chooses_contributions_steps_and_reloads(address, new_tab, model):
    trace = model.trace("7 3 9", pad_to=6)
    found = layer_contributions(model, trace)
    tab = new_tab(1440, 900)
    tab.goto(address + QUERY)
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("source-share")).to_be_hidden()
    tab.get_by_test_id("shown").select_option("alti")
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · all heads of L1")
    expect(tab.locator(".mini-axes")).to_have_text("weights: rows ask, columns answer")

    def expect_row(row: int) -> None:
        tab.mouse.move(*cell_center(tab, trace, "cross", row, 1))
        weight = found.layers["cross"][1, row, 1]
        own = 1 - found.layers["cross"][1, row].sum()
        expect(tab.get_by_test_id("tooltip")).to_contain_text(f"contribution {weight:.4f}")
        expect(tab.get_by_test_id("tooltip")).to_contain_text(f"query itself {own:.4f}")
        share = f"source {found.source_share[row] * 100:.1f} %"
        expect(tab.get_by_test_id("source-share-number")).to_contain_text(share)

    expect_row(1)
    bars = tab.get_by_test_id("source-share-bars").locator("> div")
    expect(bars).to_have_count(len(trace.predicted_tokens))
    expect(bars.nth(2)).to_have_class(re.compile("unknown"))  # not decoded yet
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("step-count")).to_contain_text("3/")
    expect_row(2)
    expect(bars.nth(2)).to_have_attribute("title", re.compile(r"source \d+\.\d %"))
    expect(tab).to_have_url(re.compile(r"[?&]shows=alti(&|$)"))
    tab.reload()
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · all heads of L1")
    tab.get_by_test_id("site-encoder").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · all heads of L1")
    tab.get_by_test_id("site-cross").click()
    expect(tab.get_by_test_id("contribution-note")).to_contain_text("by all heads of L1")
    tab.get_by_test_id("weights-again").click()  # the head that was selected before
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L1 H2")
    expect(tab.get_by_test_id("scale")).to_have_value("linear")
    tab.get_by_test_id("shown").select_option("alti")
    tab.get_by_test_id("site-encoder").click()
    tab.get_by_test_id("head-0-1").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · L0 H1")
    expect(tab.get_by_test_id("source-share")).to_be_hidden()
    expect(tab).not_to_have_url(re.compile("shows="))


def test_leave_one_out_says_what_falls_and_which_method_agrees(address, new_tab, model):
    trace = model.trace("7 3 9", pad_to=6)
    found = layer_contributions(model, trace, "leave_one_out")
    tab = new_tab(1024, 768)
    tab.goto(f"{address}{QUERY}&shows=leave_one_out")
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · whole model")
    tab.mouse.move(*cell_center(tab, trace, "cross", 1, 1))
    drop = found.drops["cross"][1, 1, 1]
    expect(tab.get_by_test_id("tooltip")).to_contain_text(f"ln p falls by {drop:.4f}")
    agreement = agreement_on_trace(model, trace, found)
    said = tab.get_by_test_id("contribution-agreement").inner_text()
    assert [int(rows) for rows in re.findall(r" (\d+)(?=[,.])", said)] == [*agreement.values()]
    figure = save(tab, "svg").path().read_text(encoding="utf-8")
    assert "Rows: target tokens as queries." in figure
    assert "A row shares 1" not in figure
    tab.get_by_test_id("site-encoder").click()  # it has no output tokens
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · L1 H2")
    expect(tab.get_by_test_id("contribution-note")).to_contain_text("measures output tokens")
    tab.get_by_test_id("site-cross").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · whole model")
    tab.get_by_test_id("inside-open").click()  # of one head, so its weights are shown
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L1 H2")
    expect(tab.get_by_test_id("inside-title")).to_contain_text("L1 H2")


def test_a_guess_hides_where_the_next_token_comes_from(address, new_tab):
    tab = new_tab(1024, 768)
    tab.goto(f"{address}{QUERY.replace('&ahead=0', '')}&shows=alti&guess=1")
    bars = tab.get_by_test_id("source-share-bars").locator("> div")
    expect(bars.first).to_have_attribute("title", re.compile("source"))
    expect(bars.nth(1)).to_have_class(re.compile("unknown"))
    expect(tab.get_by_test_id("source-share-number")).not_to_contain_text("%")
    tab.get_by_role("button", name="Next").click()
    expect(tab.get_by_test_id("source-share-number")).to_contain_text("%")
