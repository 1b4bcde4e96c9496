"""The player in a real browser: steps, forced tokens, reports to the page around it."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace
from tests.support.page_checks import settle, wait_until
from tests.support.player_page import (
    bytes_of,
    cell_center,
    go_to_first,
    label,
    shadow_page,
)


def test_every_step_shows_the_numbers_of_the_trace(open_html: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = open_html(html_page(trace))
    tab.get_by_test_id("head-0-2").click()
    go_to_first(tab)
    steps = trace.steps()
    for row, token in enumerate(trace.target_tokens):
        expect(tab.get_by_test_id("step-count")).to_have_text(f"step {row + 1}/6")
        settle(tab)
        printed = tab.locator("[data-testid=row-weights] span").all_inner_texts()
        weights = trace.attention("cross")[0, 2, row]
        for text, weight, may_attend in zip(
            printed, weights, trace.mask("cross")[row], strict=True
        ):
            if not may_attend:
                assert text == ""
            elif text == "·":
                assert weight < 0.0051
            else:
                assert float(text) == pytest.approx(weight, abs=0.0051)
        candidates = steps[steps["step"] == row + 1]
        names = tab.locator("[data-testid=candidates] .name").all_inner_texts()
        assert names == [label(name) for name in candidates["token"]]
        values = tab.locator("[data-testid=candidates] .value").all_inner_texts()
        for text, probability in zip(values, candidates["probability"], strict=True):
            shown = float(text.strip("<> %"))
            assert shown == pytest.approx(100 * probability, abs=0.051)
        sentence = tab.get_by_test_id("sentence").inner_text()
        best = int(weights.argmax())
        assert f"After reading “{label(token)}”" in sentence
        assert f"“{label(trace.source_tokens[best])}” (position {best + 1})" in sentence
        assert f"{weights[best]:.2f}" in sentence
        assert f"predicts “{label(trace.predicted_tokens[row])}”" in sentence
        expect(tab.locator("[data-testid=strip-target] .query")).to_have_text(label(token))
        tab.keyboard.press("ArrowRight")


def test_tokens_not_yet_decoded_are_not_on_the_page(show: Callable[..., Page]) -> None:
    source = ("alpha", "beta", "gamma", "delta")
    trace = example_trace(source, padding=0)
    for site in ("decoder", "cross"):
        tab = show(trace, view=View(site=site))
        expect(tab.get_by_role("checkbox", name="Show ahead")).to_be_checked()
        go_to_first(tab)
        expect(tab.get_by_role("checkbox", name="Show ahead")).not_to_be_checked()
        tab.keyboard.press("ArrowRight")
        expect(tab.get_by_test_id("step-count")).to_have_text("step 2/5")
        settle(tab)
        strip = tab.get_by_test_id("strip-target").inner_text().split()
        assert strip == ["bos", "delta", "gamma", "·", "·", "·"]
        places = ".query-label, .predicted-label" + (", .key-label" if site == "decoder" else "")
        shown = " ".join(tab.locator(places).all_inner_texts())
        assert "beta" not in shown
        assert "alpha" not in shown
        assert "gamma" in shown
        tab.mouse.move(*cell_center(tab, trace, site, 3, 1))
        settle(tab)
        expect(tab.get_by_test_id("tooltip")).to_be_hidden()
        words = tab.get_by_text("not yet decoded", exact=True)
        expect(tab.get_by_test_id("not-yet")).to_be_visible()
        expect(words).to_be_visible()
        tab.get_by_role("checkbox", name="Show ahead").check()
        expect(words).to_be_hidden()  # weights are drawn there
        expect(tab.get_by_test_id("strip-target")).to_contain_text("alpha")


def test_the_candidates_shown_and_all_others_add_up(show: Callable[..., Page]) -> None:
    for size in [(1440, 900), (1366, 505)]:  # the second has no space for all of them
        tab = show(example_trace(), view=View(step=3), size=size)
        rows = tab.locator("[data-testid=candidates] .value:visible, .others .value")
        values = [float(text.strip("<> %")) for text in rows.all_inner_texts()]
        assert sum(values) == pytest.approx(100, abs=0.3)
        expect(tab.get_by_test_id("candidates-others")).to_contain_text("all others")


def test_the_output_is_one_sentence_as_far_as_it_is_decoded_and_is_copied(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(step=2, ahead=False))
    output, copy = tab.get_by_test_id("output"), tab.get_by_test_id("copy-output")
    expect(output).to_have_text("4 1")
    tab.get_by_role("checkbox", name="Show ahead").check()
    expect(output).to_have_text("4 1 9 3 7")
    tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    copy.focus()
    tab.keyboard.press("Enter")
    expect(copy).to_have_text("Copied")
    assert tab.evaluate("copied") == "4 1 9 3 7"


def test_without_a_clipboard_as_on_plain_http_the_output_is_copied(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace())
    tab.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });"
        "document.addEventListener('copy', () => {"
        " window.selected = document.activeElement.value; }, { once: true })"
    )
    copy = tab.get_by_test_id("copy-output")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert tab.evaluate("selected") == "4 1 9 3 7"
    assert tab.evaluate("document.activeElement.dataset.testid") == "player"  # the keys step
    tab.evaluate("delete navigator.clipboard")


def test_a_forced_token_is_marked_in_strip_and_map(show: Callable[..., Page]) -> None:
    trace = example_trace()
    forced = trace.arrays["steps.chosen"] & (trace.arrays["steps.step"] == 2)
    arrays = {**trace.arrays, "steps.forced": forced}
    tab = show(replace(trace, arrays=arrays, digest=""), view=View(step=4))
    marked = tab.locator(".forced.token")
    assert marked.evaluate_all("all => all.map((node) => node.textContent)") == ["1", "1", "→ 1"]
    expect(tab.locator(".predicted-label.forced")).to_have_count(1)
    go_to_first(tab)
    expect(marked).to_have_count(0)


def test_a_page_without_a_model_offers_no_way_back_to_the_original(
    show: Callable[..., Page],
) -> None:
    for what_if in (True, False):
        view = View(step=3, what_if=what_if, forced=((2, "2"),), original=("1", "2"))
        tab = show(example_trace(), view=view)
        expect(tab.get_by_test_id("changes")).to_contain_text("step 2")
        expect(tab.get_by_test_id("unforce-2")).to_be_visible(visible=what_if)
        expect(tab.get_by_test_id("undo-all")).to_be_visible(visible=what_if)


def test_without_a_causal_mask_the_check_says_why_it_is_not_met(show: Callable[..., Page]) -> None:
    facts = {"config": {"causal": False}}
    measured = {"hooked_equals_plain": 0.0, "cached_equals_full": 0.5}
    tab = show(replace(example_trace(), facts=facts, measured=measured, digest=""))
    tab.get_by_test_id("integrity-line").click()
    words = tab.get_by_test_id("integrity-line-words")
    expect(words).to_contain_text("expected, without a causal mask")
    tab.keyboard.press("Escape")
    assert tab.locator("[data-testid=integrity] .failed").count() == 0


def test_a_given_target_does_not_count_as_forced(show: Callable[..., Page]) -> None:
    trace = example_trace()
    steps = {
        "steps.forced": trace.arrays["steps.chosen"],
        "steps.rank": trace.arrays["steps.rank"],
    }
    rank = steps["steps.rank"].copy()
    rank[:2] = rank[1::-1]  # at step 1 the target takes what the model puts second
    arrays = dict(trace.arrays) | steps | {"steps.rank": rank}
    given = replace(trace, arrays=arrays, facts={"given": True}, digest="")
    tab = show(given, view=View(step=1, forced=((1, "4"),)))
    expect(tab.get_by_test_id("sentence")).to_contain_text("the target goes on with “4”")
    expect(tab.get_by_test_id("changes")).to_be_hidden()
    assert "✎" not in tab.get_by_test_id("candidates").inner_text()
    chosen = show(replace(given, facts={}), view=View(step=1, forced=((1, "4"),)))
    expect(chosen.get_by_test_id("sentence")).to_contain_text("“4” is set here")
    expect(chosen.get_by_test_id("changes")).to_be_visible()


def test_the_encoder_hides_what_is_not_decoded_yet(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(step=2, ahead=False))
    decoded = tab.get_by_test_id("strip-target").locator(".chip").all_inner_texts()
    tab.get_by_test_id("site-encoder").click()
    assert tab.get_by_test_id("strip-target").locator(".chip").all_inner_texts() == decoded
    assert decoded[3:] == ["·"] * len(decoded[3:]) != []


def test_the_encoder_has_no_current_step_and_shows_the_reason(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    tab.get_by_test_id("site-encoder").click()
    reason = tab.get_by_text("computed once, before step 1")
    expect(reason).to_have_count(1)
    expect(reason).to_be_visible()
    expect(tab.get_by_test_id("current-row")).to_be_hidden()
    expect(tab.get_by_test_id("step")).to_be_disabled()
    expect(tab.get_by_test_id("next")).to_have_attribute("aria-disabled", "true")
    tab.keyboard.press("Home")
    tab.get_by_test_id("site-cross").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 6/6")


def test_the_integrity_line_of_a_tampered_trace_is_red(show: Callable[..., Page]) -> None:
    trace = example_trace()
    arrays = dict(trace.arrays)
    arrays["cross.attention"] = arrays["cross.attention"] * np.float32(1.01)
    tab = show(replace(trace, arrays=arrays))
    failed = tab.locator("[data-testid=integrity] .failed")
    assert failed.count() == 2
    colour = failed.first.evaluate("node => getComputedStyle(node).color")
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour))
    assert red > 2 * max(green, blue)
    line = tab.get_by_test_id("integrity-line")
    expect(line).to_have_text(f"✗ 2 of {len(trace.integrity())} checks failed")
    line.click()
    passed = tab.get_by_test_id("integrity-line-words").locator(".passed")
    expect(passed.first).to_contain_text("masked cells")
    tab.keyboard.press("Escape")


def test_an_expected_difference_is_not_a_failed_check(show: Callable[..., Page]) -> None:
    opened = {"interventions": ["open decoder.0.0 1 2"]}
    measured = {"hooked_equals_plain": 0.0, "cached_equals_full": 0.5}
    tab = show(replace(example_trace(), facts=opened, measured=measured, digest=""))
    line = tab.get_by_test_id("integrity-line")
    expect(line).to_have_text(re.compile(r"✓ \d checks, 1 with an expected difference"))
    line.click()
    expect(tab.get_by_test_id("integrity-line-words")).to_contain_text(
        "✓ cached ≠ full: expected, a later position was unmasked"
    )
    tab.keyboard.press("Escape")
    assert tab.locator("[data-testid=integrity] .failed").count() == 0


def test_traces_from_arrays_without_steps_or_with_one_site_are_shown(
    show: Callable[..., Page],
) -> None:
    even = np.full((1, 2, 3, 3), 1 / 3, dtype=np.float32)
    tab = show(Trace.from_arrays(["a", "b", "c"], encoder=even))
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · L0 H0")
    expect(tab.get_by_test_id("site-encoder")).to_be_visible()
    for missing in ("decoder", "cross"):
        expect(tab.get_by_test_id(f"site-{missing}")).to_be_hidden()
    expect(tab.get_by_test_id("candidates-note")).to_have_text("The encoder predicts nothing.")
    expect(tab.get_by_test_id("candidates-title")).to_be_hidden()
    tab.get_by_test_id("head-0-1").click()
    wait_until(tab, "reported.length")
    told = {
        "site": "encoder",
        "layer": 0,
        "head": 1,
        "step": None,
        "alignment": None,
        "guess": None,
        "ahead": True,
        "zoom": None,
        "cell": None,
        "inside": None,
        "shows": None,
        "next": None,
        "words": None,
        "everything": True,
    }
    assert [{**one, "picture": None} for one in tab.evaluate("reported")] == [
        {**told, "picture": None}
    ]
    causal = np.tril(np.ones((3, 3), dtype=np.float32))
    decoder = np.broadcast_to(causal / causal.sum(-1, keepdims=True), (1, 2, 3, 3))
    tab = show(Trace.from_arrays([], ["a", "b", "c"], decoder=decoder))
    expect(tab.get_by_test_id("sentence")).to_contain_text("After reading “c”, head L0 H0")
    expect(tab.get_by_test_id("candidates-note")).to_have_text("This trace holds no predictions.")
    expect(tab.get_by_test_id("strip-source")).to_be_hidden()


def test_the_component_reports_and_is_updated_in_place(
    open_html: Callable[..., Page],
) -> None:
    trace = example_trace()
    html = shadow_page(trace)
    tab = open_html(html)
    tab.evaluate("shadow.querySelector('.player').marked = true")
    able = View(what_if=True, forced=((2, "1"),), original=("4", "9", "<eos>"), step=2)
    tab.evaluate("(data) => { call(new Uint8Array(data)); }", bytes_of(trace, able))
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    assert tab.evaluate("shadow.querySelectorAll('.player').length") == 1
    assert tab.evaluate("shadow.querySelector('.player').marked") is True
    expect(tab.get_by_test_id("changes")).to_contain_text("step 2: “1”")
    tab.locator("[data-testid=candidates] .candidate").nth(2).click()
    tab.get_by_test_id("unforce-2").click()
    tab.get_by_test_id("undo-all").click()
    tab.get_by_test_id("head-0-1").click()
    wait_until(tab, "heard.at(-1)[0] === 'state'")
    steps = trace.steps()
    third = steps[(steps["step"] == 2) & (steps["rank"] == 3)]
    heard = tab.evaluate("heard")
    assert [what for what in heard if what[0] == "trigger"] == [
        ["trigger", "force", {"step": 2, "id": int(third["id"].iloc[0])}],
        ["trigger", "unforce", 2],
        ["trigger", "reset", True],
    ]
    selection = {
        "site": "cross",
        "layer": 0,
        "head": 1,
        "step": 2,
        "alignment": None,
        "guess": None,
        "ahead": True,
        "zoom": None,
        "cell": None,
        "inside": None,
        "shows": None,
        "next": None,
        "words": None,
        "everything": True,
        "picture": bytes(bytes_of(trace)[-8:]).hex(),
    }
    assert heard[-1] == ["state", "selection", selection]
    tab.mouse.move(*cell_center(tab, trace, "cross", 0, 1))
    expect(tab.get_by_test_id("tooltip")).to_contain_text("query “bos” (position 1)")
    tab.evaluate("host.style.setProperty('--st-background-color', '#101216')")
    tab.evaluate("host.style.setProperty('--st-text-color', '#f0f0f0')")
    expect(tab.get_by_test_id("player")).to_have_attribute("data-theme", "dark")
    tab.evaluate("(data) => { call(new Uint8Array(data)); }", bytes_of(trace, language="zh"))
    expect(tab.get_by_test_id("player")).to_have_attribute("lang", "zh")
    assert tab.evaluate("document.documentElement.lang") == "zh"
    tab.evaluate("cleanup()")
    assert tab.evaluate("shadow.querySelectorAll('.player').length") == 0


def test_without_the_app_a_candidate_cannot_be_forced(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    row = tab.locator("[data-testid=candidates] .candidate").nth(1)
    expect(row).to_have_attribute("aria-disabled", "true")
    assert "needs the running app" in (row.get_attribute("title") or "")


def test_without_plotly_the_rest_still_works(new_tab: Callable[..., Page], tmp_path: Path) -> None:
    html = html_page(example_trace())
    html = re.sub(r'(<script[^>]* id="plotly"[^>]*>)[^<]+', r"\1", html)
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    tab = new_tab(offline=True)
    tab.goto(path.as_uri())
    expect(tab.get_by_test_id("map-notice")).to_be_visible()
    tab.keyboard.press("Home")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/6")
    tab.mouse.move(*cell_center(tab, example_trace(), "cross", 0, 4))
    expect(tab.get_by_test_id("tooltip")).to_contain_text("weight 0.9")
