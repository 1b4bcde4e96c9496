"""Which heads made the model choose a token, beside the map."""

import re

import pytest
from playwright.sync_api import expect

import explorer
from explorer.core import folders

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
        sentence = "“{}” over “{}”: {} nats; heads give {}, the rest {}"
        expected = sentence.format(token.strip("<>"), other.strip("<>"), *map(signed, sums))
        expect(tab.get_by_test_id("parts-sentence")).to_have_text(expected)
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
    for step in (4, 5):
        expect(tab.get_by_test_id("step-count")).to_contain_text(f"step {step}/")
        for part in ("decoder-0-0", "cross-2-7"):
            expect(tab.get_by_test_id(f"part-{part}")).to_be_in_viewport(ratio=1)
        for part in ("parts-sentence", "output"):
            expect(tab.get_by_test_id(part)).to_be_in_viewport(ratio=1)
        tab.keyboard.press("ArrowRight")
