"""Which heads made the model choose a token, beside the map."""

import re

import pandas as pd
import pytest
from playwright.sync_api import expect

import explorer
from explorer.core import folders
from tests.support.player_page import save

QUERY = "?lang=en&model=reverse&text=7+3+9&pad=2&site=cross&layer=1&head=2&step=2&ahead=0"


@pytest.fixture(scope="module")
def model() -> explorer.ExplorableModel:
    return explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")


def signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def test_a_visitor_sees_the_parts_of_heads_steps_and_selects_one(address, new_tab, model):
    found = model.logit_attribution("7 3 9", pad_to=6)
    tab = new_tab(1440, 900)
    tab.goto(address + QUERY)
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("head-parts")).to_be_hidden()
    tab.get_by_test_id("candidates-heads").click()

    def expect_step(step: int) -> None:
        parts = found.parts[found.parts.step == step]
        sums = [found.difference[step - 1], parts.value.sum(), found.remainder[step - 1]]
        token, other = found.trace.predicted_tokens[step - 1], found.runner_up[step - 1]
        sentence = tab.get_by_test_id("parts-sentence")
        names = f"“{token.strip('<>')}” over “{other.strip('<>')}”: {signed(sums[0])} nats"
        expect(sentence).to_contain_text(names)
        text = sentence.inner_text().replace("−", "-").removeprefix(names.replace("−", "-"))
        printed = [float(number) for number in re.findall(r"[+-]?[\d.]+", text)]
        assert printed == pytest.approx(sums[1:], abs=0.0051)
        assert sum(printed) == pytest.approx(round(sums[0], 2), abs=0.0051)
        for row in parts.itertuples():
            button = tab.get_by_test_id(f"part-{row.site}-{row.layer}-{row.head}")
            name = (
                f"{row.site.capitalize()} · L{row.layer} H{row.head}: {signed(row.value, 3)} nats"
            )
            expect(button).to_have_attribute("title", re.compile(re.escape(name)))

    expect_step(2)
    expect(tab.get_by_test_id("candidates")).to_be_hidden()
    tab.get_by_role("button", name="Next").click()
    expect_step(3)
    expect(tab).to_have_url(re.compile(r"[?&]step=3(&|$)"))
    expect(tab).to_have_url(re.compile(r"[?&]next=heads(&|$)"))
    tab.reload()
    expect_step(3)
    tab.get_by_test_id("part-decoder-0-1").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Decoder · L0 H1")
    expect(tab.get_by_test_id("part-decoder-0-1")).to_have_attribute("aria-pressed", "true")
    tab.get_by_test_id("candidates-percent").click()
    expect(tab.get_by_test_id("head-parts")).to_be_hidden()
    expect(tab).not_to_have_url(re.compile("next="))


def test_what_is_saved_of_the_next_token_is_what_is_on_screen(address, new_tab, model):
    found = model.logit_attribution("7 3 9", pad_to=6)
    tab = new_tab(1440, 900)
    tab.goto(address + QUERY + "&next=heads")
    sentence = tab.get_by_test_id("parts-sentence")
    expect(sentence).to_contain_text("nats")
    for name, width in {"next-svg": 640, "next-svg_column": 320}.items():
        download = save(tab, name)
        assert download.suggested_filename.startswith("head-parts-step2")
        source = download.path().read_text("utf-8")
        assert f'width="{width}"' in source
        for words in ("step 2/4", "Model: reverse", "7 3 9", "feed-forward", "H3", "difference"):
            assert words in source
        number = signed(found.difference[1])
        assert number in source
    table = pd.read_csv(save(tab, "next-csv").path())
    parts = found.parts[found.parts.step == 2]
    heads = table[table["head"].notna()]
    by_head = {(one.part, one.layer, one.head): one.nats for one in heads.itertuples()}
    expected = {(one.site, one.layer, one.head): one.value for one in parts.itertuples()}
    assert by_head == pytest.approx(expected, abs=1e-5)
    summed = table[table.part != "difference"].nats.sum()
    assert summed == pytest.approx(found.difference[1], abs=1e-4)
    tab.get_by_test_id("candidates-percent").click()
    assert save(tab, "next-svg").suggested_filename == "next-token-step2.svg"


def test_a_guess_hides_the_parts_until_the_token_is_shown(address, new_tab):
    tab = new_tab(1024, 768)
    tab.goto(f"{address}{QUERY.replace('&ahead=0', '')}&next=heads&guess=1")
    expect(tab.get_by_test_id("candidates")).to_be_visible()
    expect(tab.get_by_test_id("head-parts")).to_be_hidden()
    tab.get_by_role("button", name="Next").click()
    expect(tab.get_by_test_id("parts-sentence")).to_contain_text("nats")


@pytest.mark.parametrize("size", [(1440, 900), (1366, 630), (1024, 768)])
def test_on_a_projector_no_head_and_no_output_is_cut(address, new_tab, size):
    tab = new_tab(*size)
    text = "The+children+who+live+near+the+old+station+have+never+seen+snow."
    tab.goto(f"{address}?lang=en&model=english-french&text={text}&step=4&next=heads")
    tab.wait_for_selector(".plotted")
    tab.keyboard.press("p")
    # A small projector leaves the line of the output to the map: it is read in that of the target.
    output = "output" if size[0] > 1150 else "strip-target"
    for step in (4, 5):
        expect(tab.get_by_test_id("step-count")).to_contain_text(f"step {step}/")
        for part in ("decoder-0-0", "cross-2-7"):
            expect(tab.get_by_test_id(f"part-{part}")).to_be_in_viewport(ratio=1)
        for part in ("parts-sentence", output):
            expect(tab.get_by_test_id(part)).to_be_in_viewport(ratio=1)
        tab.keyboard.press("ArrowRight")


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
@pytest.mark.parametrize("shows", ["", "&shows=alti_plus", "&shows=leave_one_out"])
def test_what_adds_up_stays_on_screen_or_the_column_scrolls(address, new_tab, size, shows):
    tab = new_tab(*size)
    text = "The+black+cat+is+asleep."
    tab.goto(f"{address}?lang=en&model=english-french&text={text}&step=4&next=heads{shows}")
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("parts-bars").get_by_text("feed-forward")).to_be_visible()
    if shows:
        expect(tab.get_by_test_id("source-share-number")).to_contain_text("%")
    column = tab.locator(".aside")
    cut, marked = column.evaluate(
        "node => [node.scrollHeight > node.clientHeight, node.dataset.scrolls !== undefined]"
    )
    assert cut == marked
    if marked:
        expect(tab.get_by_test_id("sentence")).to_contain_text("After reading")
        assert tab.get_by_test_id("sentence").bounding_box()["height"] > 20
