"""What keys contribute and which heads chose, of models of the library transformers."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import explorer
from explorer.core.i18n import say
from explorer.heads.contributions.layer_contributions import layer_contributions
from tests.support import model_directories
from tests.support.app_server import running_app
from tests.support.huggingface_families import saved, tiny_model
from tests.support.player_page import cell_center

TEXT = "The cat sees a dog."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories of a translator, of an encoder and of a family whose layers are no sums."""
    found = tmp_path_factory.mktemp("models")
    model_directories.marian(found / "opus-tiny")
    model_directories.bert(found / "bert-tiny")
    saved(tiny_model("gemma2"), found / "gemma-tiny")
    return found


@pytest.fixture(scope="module")
def app(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    made = {
        name: str(tmp_path_factory.mktemp("made"))
        for name in ("EXPLORER_RUNS", "EXPLORER_FINDINGS")
    }
    with running_app(EXPLORER_MODELS=str(folder), **made) as address:
        yield address


def opened(app: str, new_tab: Callable[..., Page], query: str) -> Page:
    tab = new_tab(1440, 900)
    tab.goto(f"{app}?lang=en&{query}")
    tab.wait_for_selector(".plotted")
    return tab


def test_contributions_and_parts_of_heads_are_those_of_python(
    app: str, folder: Path, new_tab: Callable[..., Page]
) -> None:
    model = explorer.load(folder / "opus-tiny")
    trace = model.trace(TEXT)
    found, parts = layer_contributions(model, trace), model.logit_attribution(TEXT)
    query = f"model=opus-tiny&text={TEXT.replace(' ', '+')}"
    tab = opened(app, new_tab, f"{query}&site=cross&layer=1&head=2&step=2")
    shown = tab.get_by_test_id("shown")
    shown.select_option("alti")
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · all heads of L1")
    tab.mouse.move(*cell_center(tab, trace, "cross", 1, 1))
    weight = f"contribution {found.layers['cross'][1, 1, 1]:.4f}"
    expect(tab.get_by_test_id("tooltip")).to_contain_text(weight)
    share = f"source {found.source_share[1] * 100:.1f} %"
    expect(tab.get_by_test_id("source-share-number")).to_contain_text(share)
    tab.get_by_test_id("candidates-heads").click()
    for row in parts.parts[parts.parts.step == 2].itertuples():
        value = f"{row.value:+.3f}".replace("-", "−")
        button = tab.get_by_test_id(f"part-{row.site}-{row.layer}-{row.head}")
        expect(button).to_have_attribute("title", re.compile(re.escape(f"{value} nats")))
    expect(tab).to_have_url(re.compile("shows=alti.*next=heads"))
    early = model.trace(TEXT, capture="full").early_predictions()
    tab.get_by_test_id("inside-open").click()
    tab.get_by_test_id("inside_part-depth").click()
    cells = tab.get_by_test_id("depth-table").locator("tbody tr")
    first = early[(early.step == 2) & (early["rank"] == 1)].sort_values("layer", ascending=False)
    expect(cells).to_have_count(len(first))
    for line, row in zip(cells.all(), first.itertuples(), strict=True):
        expect(line.locator("td").nth(1)).to_contain_text(f"{row.probability:.2f}".lstrip("0"))


def test_a_token_goes_through_a_layer_to_the_next_one(
    app: str, folder: Path, new_tab: Callable[..., Page]
) -> None:
    trace = explorer.load(folder / "opus-tiny").trace(TEXT)
    query = f"model=opus-tiny&text={TEXT.replace(' ', '+')}"
    tab = opened(app, new_tab, f"{query}&site=cross&layer=1&head=2&step=2&cell=1.3&inside=before")
    for name, heading in (("tokens", "embedding"), ("positions", "+ position")):
        expect(tab.get_by_test_id(f"path-{name}").locator("h3")).to_have_text(heading)
    expect(tab.get_by_test_id("path-normed")).to_be_hidden()  # it stands behind
    expect(tab.get_by_test_id("inside-total")).to_be_hidden()
    tab.get_by_test_id("inside_part-after").click()
    best = trace.steps().query("step == 2 and rank == 1").iloc[0]
    share = f"→ {best.probability * 100:.1f} %"
    expect(tab.get_by_test_id("path-logits-text")).to_contain_text(share)
    expect(tab.get_by_test_id("path-hidden")).to_be_hidden()
    expect(tab.get_by_test_id("path-result").locator("math")).to_be_visible()
    tab.get_by_test_id("inside_part-without").click()
    expect(tab.get_by_test_id("inside-note")).to_contain_text("models trained here alone")


def test_the_parts_of_a_score_add_up_to_that_of_python(
    app: str, folder: Path, new_tab: Callable[..., Page]
) -> None:
    found = explorer.load(folder / "opus-tiny").score_parts(TEXT, "cross", 1, 2, query=1, key=3)
    query = f"model=opus-tiny&text={TEXT.replace(' ', '+')}"
    tab = opened(app, new_tab, f"{query}&site=cross&layer=1&head=2&cell=1.3&inside=score")
    expect(tab.get_by_test_id("score-sentence")).to_contain_text(f"{len(found.parts)} products")
    score = f"{found.score:+.2f}".replace("-", "−")
    bars = tab.get_by_test_id("score-bars").get_by_role("listitem")
    expect(bars.last).to_contain_text(score)


def test_beside_contributions_inside_leaves_the_column_its_height(
    app: str, new_tab: Callable[..., Page]
) -> None:
    """Inside has no more than a sentence of them."""
    query = f"model=opus-tiny&text={TEXT.replace(' ', '+')}"
    tab = opened(app, new_tab, f"{query}&site=cross&layer=1&cell=1.3&shows=alti")
    expect(tab.get_by_test_id("inside-note")).to_contain_text(say("player.inside_contribution"))
    column = tab.locator(".aside")
    expect(column).to_contain_text(say("player.what_if"))
    assert column.evaluate("node => node.scrollHeight <= node.clientHeight")


def test_an_encoder_alone_has_no_predictions_after_its_layers(
    app: str, new_tab: Callable[..., Page]
) -> None:
    tab = opened(app, new_tab, "model=bert-tiny&text=The+cat+sees&cell=1.2&inside=depth")
    expect(tab.get_by_test_id("inside-note")).to_contain_text(say("player.depth_alone"))


def test_an_encoder_has_contributions_without_a_share_of_the_source(
    app: str, new_tab: Callable[..., Page]
) -> None:
    tab = opened(app, new_tab, "model=bert-tiny&text=The+cat+[MASK]+a+dog.&shows=alti_plus")
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · layers up to L0")
    expect(tab.get_by_test_id("contribution-note")).to_contain_text(re.compile("^The map is of"))
    expect(tab.get_by_test_id("source-share-bars")).to_be_hidden()
    missing = tab.get_by_test_id("shown").locator("option[value=leave_one_out]")
    expect(missing).to_be_disabled()
    expect(tab.get_by_test_id("candidates-heads")).to_be_hidden()


def test_a_family_whose_layers_are_no_sums_says_so_and_is_measured(
    app: str, folder: Path, new_tab: Callable[..., Page], complaints: list[str]
) -> None:
    tab = opened(app, new_tab, "model=gemma-tiny&text=5+17+8+30&step=3")
    tab.get_by_test_id("shown").select_option("alti")
    sentence = "The layers of the family “gemma2” do not each add"
    expect(tab.get_by_test_id("load-problem")).to_contain_text(sentence)
    expect(tab.get_by_test_id("shown")).to_have_value("weight")
    tab.get_by_test_id("candidates-heads").click()
    expect(tab.get_by_test_id("candidates-note")).to_contain_text(sentence)
    assert complaints
    assert all("422" in one for one in complaints)  # the browser notes what is refused
    complaints.clear()
    tab.get_by_test_id("shown").select_option("rollout")
    expect(tab.get_by_test_id("map-title")).to_contain_text("layers up to")
    model = explorer.load(folder / "gemma-tiny")
    found = layer_contributions(model, model.trace("5 17 8 30"), "leave_one_out")
    tab.get_by_test_id("shown").select_option("leave_one_out")
    expect(tab.get_by_test_id("contribution-agreement")).to_contain_text("rollout")
    share = f"prompt {found.source_share[2] * 100:.1f} %"
    expect(tab.get_by_test_id("source-share-number")).to_contain_text(share)
