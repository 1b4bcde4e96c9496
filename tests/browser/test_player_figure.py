"""The saved figure of the map: it explains itself, on white, and no text covers another."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer import __version__
from explorer.components.player.payload import View
from explorer.core.i18n import LANGUAGES, say
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace, pieces_trace, random_trace
from tests.support.player_page import save
from tests.support.saved_figure import OVERLAPPING, SMALLEST

LONG = tuple(f"word{number}" + "s" * (number % 9) for number in range(38))
CHINESE = tuple("这只黑猫在花园里的大树下面睡觉")


def saved(tab: Page, name: str = "svg") -> Path:
    return save(tab, name).path()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("trace", "view", "clicks"),
    [
        (example_trace(), View(site="cross", layer=1, head=1, step=3), ["alignment-prediction"]),
        (example_trace(("7",), padding=0), View(site="encoder"), []),
        (example_trace(LONG), View(site="cross", layer=1, head=3), []),
        (example_trace(CHINESE), View(site="decoder", layer=0, head=1, step=9), []),
        (random_trace(64, 64, 1, 1), View(site="cross"), ["alignment-input", "scale-row"]),
        (pieces_trace(), View(site="cross", head=0), ["alignment-prediction"]),
        (pieces_trace(), View(site="cross", head=0), ["unit-words"]),
    ],
    ids=["step", "one", "long", "chinese", "large", "pieces", "words"],
)
def test_no_two_texts_overlap_and_all_can_be_read(
    show: Callable[..., Page], trace: Trace, view: View, clicks: list[str], language: str
) -> None:
    tab = show(trace, language, view)
    for name in clicks:
        if name.startswith("scale-"):
            tab.get_by_test_id("scale").select_option(name.removeprefix("scale-"))
        else:
            tab.get_by_test_id(name).click()
    for name, width in {"svg": 640, "svg_column": 320}.items():
        source = saved(tab, name).read_text(encoding="utf-8")
        assert source.index(f'width="{width}"') < source.index("<defs>")
        assert tab.evaluate(OVERLAPPING, [source, 640 * SMALLEST]) == []  # type of one size
        assert f"Attention explorer {__version__}" in source
        assert say(f"player.figure_axes_{view.site}", language)[:20] in source


def test_the_figure_says_what_is_seen_in_dark_too(show: Callable[..., Page]) -> None:
    trace = example_trace()
    facts = {"model": "reverse", "interventions": ["ablate cross.0.1", "keep decoder.0.0"]}
    named = replace(trace, facts=facts, digest="")
    tab = show(named, view=View(site="cross", layer=1, head=1, step=3), dark=True)
    source = saved(tab).read_text(encoding="utf-8")
    assert tab.get_by_test_id("sentence").inner_text()[:30] in source
    assert "Interventions: ablate cross.0.1, keep decoder.0.0" in source
    assert "A row shares 1 among its keys." in source
    for text in ("Cross · L1 H1", "Model: reverse", "7 3 9 1 4", "4 1 9 3 7", "masked: padding"):
        assert text in source
    assert 'height="100%" fill="rgb(255,255,255)"' in source
    png = saved(tab, "png").read_bytes()
    assert int.from_bytes(png[16:20]) == 3 * 640  # pixels across: 300 dpi at 16 cm


@pytest.mark.parametrize("scale", ["percent", "log"])
def test_the_bars_of_the_next_token_are_as_long_as_probable(
    show: Callable[..., Page], scale: str
) -> None:
    trace = replace(example_trace(), facts={"model": "reverse"}, digest="")
    tab = show(trace, view=View(site="cross", layer=1, head=1, step=3))
    tab.get_by_test_id(f"candidates-{scale}").click()
    steps = trace.steps()
    expected = steps[steps.step == 3].sort_values("rank")
    for name, width in {"next-svg": 640, "next-svg_column": 320}.items():
        source = saved(tab, name).read_text(encoding="utf-8")
        assert tab.evaluate(OVERLAPPING, [source, 640 * SMALLEST]) == []
        assert f'width="{width}"' in source
        for words in ("step 3/6", "Model: reverse", "7 3 9 1 4", expected.token.iloc[0]):
            assert words in source
        bars = [float(one) for one in re.findall(r'height="10" width="([0-9.e-]+)"', source)]
        tracks, lengths = bars[::2], bars[1::2]
        shares = [length / track for length, track in zip(lengths, tracks, strict=True)]
        if scale == "percent":
            assert shares == pytest.approx(expected.probability.tolist(), abs=1e-4)
        else:
            logs = [max(0.0, 1 + math.log10(max(p, 1e-6)) / 6) for p in expected.probability]
            assert shares == pytest.approx(logs, abs=1e-3)
    tab.get_by_test_id("site-encoder").click()  # no next token there
    tab.get_by_test_id("save").locator("summary").click()
    expect(tab.get_by_test_id("save-next")).to_be_hidden()


def test_the_figure_of_a_prompt_has_its_first_token_and_readable_bytes(
    show: Callable[..., Page],
) -> None:
    whole = pieces_trace()
    own = {name: own for name, own in whole.arrays.items() if name[:5] in ("decod", "steps")}
    fed = ("▁The", "▁ca", "<0xC9>", "<0xFB>", "at")
    changes = {"source_tokens": (), "target_tokens": fed, "predicted_tokens": (*fed[1:], "<eos>")}
    tab = show(pieces_trace(arrays=own, facts={"prompt": 2}, **changes))
    assert "Text: The ca‹C9›‹FB›at" in saved(tab).read_text(encoding="utf-8")
    tab.get_by_test_id("unit-words").click()
    source = saved(tab).read_text(encoding="utf-8")
    assert "ca‹C9›‹FB›at" in source
    assert "0xC9" not in source


def test_both_widths_have_names_of_their_own_and_escape_closes_the_menu(show) -> None:
    tab = show(example_trace(), "en", View(site="cross", layer=1, head=1))
    names = [save(tab, name).suggested_filename for name in ("png", "svg", "svg_column")]
    assert len(set(names)) == 3
    assert names[2] == names[1].replace(".svg", "-column.svg")
    menu = tab.get_by_test_id("save")
    menu.locator("summary").click()
    tab.get_by_test_id("sentence").evaluate("() => document.activeElement.blur()")
    expect(tab.get_by_test_id("svg")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.get_by_test_id("svg")).to_be_hidden()
