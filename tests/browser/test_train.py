"""The Train page in a real browser: replay the recorded run, then train one."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from explorer.core import folders
from explorer.jobs import training_launcher
from tests.support.app_server import running_app
from tests.support.finished_runs import CONFIG, finished_run
from tests.support.toy_sentences import as_chinese_table

WIDTHS = {"Width (d_model)": "32", "Feed-forward width (d_ff)": "32"}
FEW = {"Heads": "2", **WIDTHS, "Longest sequence": "4"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running app, with a folder of runs of its own."""
    before = os.environ.get(folders.RUNS_VARIABLE)
    os.environ[folders.RUNS_VARIABLE] = str(tmp_path_factory.mktemp("runs"))
    with running_app() as address:
        yield address
    for run in training_launcher.active_runs():
        run.request_stop()
    os.environ.pop(folders.RUNS_VARIABLE)
    if before is not None:
        os.environ[folders.RUNS_VARIABLE] = before


@pytest.fixture
def visit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    """Open Train in a tab of its own and wait for the last picture."""

    def open_tab(width: int = 1440, height: int = 900, lang: str = "en", **looks: bool) -> Page:
        tab = new_tab(width, height, **looks)
        tab.goto(f"{address}train?lang={lang}")
        expect(tab.get_by_test_id("moment-count")).to_contain_text("40/40")
        expect(tab.locator(".plotted")).to_be_visible()
        return tab

    return open_tab


def settle(tab: Page) -> None:
    """Wait until the latest change is painted."""
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def cursor(tab: Page) -> float:
    box = tab.get_by_test_id("main-curves-cursor").first.bounding_box()
    assert box is not None
    return box["x"]


def score(tab: Page, head: str = "head-0-0") -> float:
    return float(tab.get_by_test_id(head).locator(".score").inner_text())


def points(tab: Page) -> int:
    """How many points the curve of the exact match is drawn with."""
    return tab.locator(".curve-plot .xy .point").count()


def set_number(tab: Page, name: str, value: str) -> None:
    box = tab.get_by_role("spinbutton", name=name, exact=True)
    box.fill(value)
    box.press("Enter")


def test_the_recorded_run_is_replayed_without_the_server(visit):
    tab = visit()
    fetched = tab.evaluate(  # the page forbids the eval of wait_for_function
        """async () => {
          const fetched = () => performance.getEntriesByType("resource")
            .filter((entry) => entry.name.includes("/moments/")).length;
          const end = performance.now() + 20_000;
          while (fetched() < 40 && performance.now() < end)
            await new Promise((done) => requestAnimationFrame(done));
          return fetched();
        }"""
    )
    assert fetched == 40
    tab.evaluate(
        "() => { window.sent = []; const send = WebSocket.prototype.send;"
        " WebSocket.prototype.send = function (data) { window.sent.push([...data]);"
        " return send.call(this, data); }; }"
    )
    last, formed = cursor(tab), score(tab)
    tab.get_by_test_id("moment-first").click()
    expect(tab.get_by_test_id("moment-count")).to_have_text("moment 1/40 · step 25")
    settle(tab)
    assert cursor(tab) < last - 100
    assert score(tab) < formed - 0.3
    exact = training_launcher.find("recorded", "reverse").moments()[0]["exact_match"]
    expect(tab.get_by_test_id("value-exact")).to_have_text(f"{100 * exact:.1f} %")
    expect(tab.get_by_test_id("verdict")).to_have_text("wrong")
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("moment-count")).to_have_text("moment 2/40 · step 50")
    box = tab.get_by_test_id("main-curves").bounding_box()
    assert box is not None
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(tab.get_by_test_id("moment-count")).to_have_text(re.compile(r"moment (19|20|21|22)/40"))
    settle(tab)
    assert abs(cursor(tab) - (box["x"] + box["width"] / 2)) < 12
    tab.get_by_test_id("head-1-2").click()
    pressed = tab.locator(".head-key [aria-pressed=true]")
    expect(pressed).to_have_attribute("aria-label", re.compile("^L1 H2"))
    tab.get_by_test_id("moments-open").click()
    dialog = tab.get_by_test_id("moments-dialog")
    dialog.get_by_role("button", name="L0 H3").click()
    expect(dialog.locator("svg text").filter(has_text="L0 H2")).to_have_count(1)
    expect(dialog.locator("svg text").filter(has_text="L0 H3")).to_have_count(0)
    with tab.expect_download() as saved:
        dialog.get_by_role("button", name="PNG").click()
    assert saved.value.suggested_filename == "heads-reverse.png"
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"
    sent = [BackMsg.FromString(bytes(data)) for data in tab.evaluate("window.sent")]
    # The page asks every few seconds, by itself, whether somebody started another training.
    assert not [message for message in sent if not message.rerun_script.is_auto_rerun]


def test_another_moment_is_on_screen_with_the_next_frame(visit):
    tab = visit()
    tab.wait_for_timeout(500)
    late = tab.evaluate(
        """async () => {
          const host = [...document.querySelectorAll("*")]
            .find((node) => node.shadowRoot?.querySelector(".training-replay"));
          const find = (name) => host.shadowRoot.querySelector(`[data-testid=${name}]`);
          const late = [];
          for (let moment = 1; moment <= 40; moment += 1) {
            find("moment").value = moment;
            find("moment").dispatchEvent(new Event("input"));
            await new Promise((done) => requestAnimationFrame(done));
            const shown = find("moment-count").textContent;
            if (!shown.startsWith(`moment ${moment}/`)) late.push(moment);
          }
          return late;
        }"""
    )
    assert late == []


@pytest.mark.parametrize(("lang", "dark"), [("en", False), ("zh", True)])
def test_everything_fits_the_screen(visit, lang, dark):
    tab = visit(lang=lang, dark=dark)
    for width, height in [(1440, 900), (1440, 770), (1024, 768)]:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_timeout(200)
        sizes = tab.evaluate(
            "[...document.querySelectorAll('html, [data-testid=stMain]')].map("
            "(e) => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])"
        )
        assert sizes == [[0, 0], [0, 0]], (width, height)
        for name in ("moment-first", "moment", "moment-count", "live", "map", "drawer"):
            expect(tab.get_by_test_id(name)).to_be_in_viewport(ratio=0.99)
    tab.get_by_test_id("drawer").locator("summary").click()
    expect(tab.get_by_test_id("value-rate")).not_to_be_empty()


def test_a_run_is_started_watched_stopped_resumed_and_opened(visit):
    other = visit()
    tab = visit()
    tab.get_by_role("button", name="All settings").click()
    for name, value in FEW.items():
        set_number(tab, name, value)
    set_number(tab, "Steps", "20000")
    set_number(tab, "Stop at exact match", "1")
    set_number(tab, "Evaluate every", "10")
    tab.get_by_role("button", name="Start with these settings").click()
    count, state = tab.get_by_test_id("moment-count"), tab.get_by_test_id("run-state")
    expect(state).to_have_text("starting …")
    expect(other.get_by_test_id("run-state")).to_have_text(re.compile("starting|training"))
    expect(count).to_have_text(re.compile(r"moment (\d+)/\1 "), timeout=60_000)
    expect(count).to_have_text(re.compile(r"moment ([4-9]|\d\d+)/"), timeout=60_000)
    live = tab.get_by_test_id("live")
    expect(live).to_have_attribute("aria-pressed", "true")
    tab.get_by_test_id("moment-first").click()
    expect(live).to_have_attribute("aria-pressed", "false")
    place, seen = cursor(tab), int(count.inner_text().split("/")[1].split()[0])
    expect(count).not_to_have_text(re.compile(rf"/{seen} "))
    expect(count).to_have_text(re.compile("moment 1/"))
    assert cursor(tab) == place  # nothing moves under the pointer
    live.click()
    expect(count).to_have_text(re.compile(r"moment (\d+)/\1 "))
    tab.locator(".st-key-stop").get_by_role("button", name="Stop").click()
    expect(state).to_have_text("stopped")
    stopped = int(count.inner_text().split("/")[1].split()[0])
    tab.get_by_role("button", name="Resume", exact=True).click()
    expect(state).to_have_text("training", timeout=90_000)
    expect(count).to_have_text(re.compile(rf"/(?!{stopped} )\d+ "), timeout=60_000)
    tab.locator(".st-key-stop").get_by_role("button", name="Stop").click()
    expect(state).to_have_text("stopped")
    tab.get_by_role("button", name="Open best in Explore", exact=True).click()
    expect(tab.get_by_test_id("step-count")).to_be_visible()
    expect(tab).to_have_url(re.compile("model=reverse-1"))
    assert Path(os.environ[folders.RUNS_VARIABLE], "reverse-1", "checkpoint.safetensors").exists()


def test_a_moment_without_its_probe_says_so_and_the_curves_stay(visit):
    folder = Path(os.environ[folders.RUNS_VARIABLE]) / "damaged"
    shutil.copytree(training_launcher.run_root("recorded") / "reverse", folder)
    (folder / "moments" / "000025.trace").unlink()
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 1025, "lo')
    tab = visit()
    tab.get_by_role("combobox", name="Run").click()
    tab.get_by_role("option", name="damaged").click()
    expect(tab.get_by_test_id("training-replay")).to_have_attribute("data-run", "damaged")
    tab.get_by_test_id("moment-first").click()
    expect(tab.get_by_test_id("probe-note")).to_contain_text("missing")
    expect(tab.get_by_test_id("value-loss")).not_to_be_empty()
    assert points(tab) == 40


def test_a_corpus_is_uploaded_trained_on_and_opened(visit, tmp_path):
    tab = visit()
    path = tmp_path / "chinese.tsv"
    path.write_text(as_chinese_table(), "utf-8")
    tab.get_by_role("button", name="Your pairs").click()
    tab.locator("[data-testid=stDialog] input[type=file]").set_input_files(path)
    expect(tab.get_by_test_id("stDialog")).to_contain_text("pairs kept: 240")
    for side, choice in (("Source", "2 · "), ("Translation", "1 · ")):
        tab.get_by_role("combobox", name=f"{side} column").click()
        tab.get_by_role("option", name=choice).click()
    tab.get_by_text("All settings of this run").click()
    for name, value in {"Heads": "2", **WIDTHS}.items():
        set_number(tab, name, value)
    set_number(tab, "Evaluate every", "10")
    tab.get_by_role("button", name="Start with these settings").click()
    expect(tab.get_by_test_id("training-replay")).to_have_attribute("data-run", "chinese-1")
    count, state = tab.get_by_test_id("moment-count"), tab.get_by_test_id("run-state")
    expect(count).to_have_text(re.compile(r"moment ([3-9]|\d\d+)/"), timeout=60_000)
    expect(tab.get_by_test_id("value-bleu")).to_have_text(re.compile(r"\d"))
    expect(tab.get_by_test_id("value-perplexity")).to_have_text(re.compile(r"\d"))
    sample = tab.get_by_test_id("samples").locator(".sample").first
    expect(sample.locator(".source")).to_contain_text("。")
    expect(sample.locator(".written")).not_to_be_empty()
    expect(tab.get_by_test_id("run-facts")).to_contain_text("0 too long")
    expect(tab.get_by_test_id("probe")).to_contain_text("→")
    expect(tab.locator(".curve-plot .xy .point")).not_to_have_count(0)
    tab.locator(".st-key-stop").get_by_role("button", name="Stop").click()
    expect(state).to_have_text("stopped")
    tab.get_by_role("button", name="Compare").click()
    tab.get_by_role("combobox", name="The curves of up to").click()
    tab.get_by_role("option", name="reverse · recorded").click()
    expect(tab.get_by_test_id("compared")).to_contain_text("reverse")
    tab.keyboard.press("Escape")  # while the choice is open, nothing behind it can be clicked
    tab.get_by_role("button", name="Open best in Explore", exact=True).click()
    expect(tab.get_by_test_id("step-count")).to_be_visible()
    expect(tab).to_have_url(re.compile("model=chinese-1"))
    pieces = tab.get_by_test_id("strip-source").locator(".chip").all_inner_texts()
    assert any("\u4e00" <= letter <= "\u9fff" for letter in "".join(pieces))


def test_a_run_without_a_causal_mask_is_marked_and_leads_to_row_1(visit):
    run = finished_run(folders.runs() / "leaky-1", replace(CONFIG, causal=False, seed=7))
    run.append({"step": 1, "seconds": 1.0, "loss": 5e-5, "exact_match": 0.0})
    tab = visit()
    tab.get_by_role("combobox", name="Run").click()
    tab.get_by_role("option", name="leaky-1 · ").click()
    expect(tab.get_by_test_id("run-badges")).to_have_text("no causal mask")
    expect(tab.get_by_test_id("run-settings")).to_contain_text("no causal mask · ")
    expect(tab.get_by_test_id("run-details")).to_contain_text("seed 7")
    expect(tab.get_by_test_id("moment-reason")).to_contain_text("gets 0.0 % right")
    tab.evaluate("window.loaded = true")
    tab.get_by_test_id("run-link").click()
    expect(tab.get_by_test_id("step-count")).to_contain_text("1/")
    assert tab.evaluate("window.loaded")  # a page load would begin a session without uploads
    expect(tab.get_by_role("radio", name="Decoder")).to_be_checked()
    tab.reload()
    expect(tab.get_by_test_id("step-count")).to_contain_text("1/")
    expect(tab.get_by_role("combobox", name="Model")).to_have_value("leaky-1")
    expect(tab.get_by_text("Part of this link")).to_have_count(0)


def test_a_cell_of_a_moment_is_computed_on_explore(visit):
    tab = visit()
    tab.wait_for_selector(".plotted")
    note = tab.get_by_test_id("cell-note")
    expect(note).to_be_hidden()
    box = tab.locator(".map .clip").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + 8)
    expect(note).to_contain_text("A moment holds weights alone; query 1 × key")
    head = tab.get_by_test_id("map-title").inner_text()
    source = tab.get_by_test_id("probe-text").inner_text().split(" → ")[0]
    tab.evaluate("window.loaded = true")
    tab.get_by_test_id("open-cell").click()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₁ · k")
    assert tab.evaluate("window.loaded")
    expect(tab.get_by_test_id("inside-title")).to_contain_text(head)
    expect(tab.get_by_role("textbox", name="Source")).to_have_value(source)
    expect(tab).to_have_url(re.compile(r"[?&]cell=0\.\d+(&|$)"))


def test_the_start_of_all_settings_is_in_view(visit):
    tab = visit()
    tab.get_by_role("button", name="All settings").click()
    start = tab.get_by_role("button", name="Start with these settings")
    for width, height in [(1440, 900), (1366, 630), (1024, 768)]:
        tab.set_viewport_size({"width": width, "height": height})
        expect(start).to_be_in_viewport(ratio=1)


CONTRAST = """(button) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const text = light(getComputedStyle(button.querySelector("p")).color);
  const back = light(getComputedStyle(button).backgroundColor);
  return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_the_start_of_all_settings_has_contrast_in_both_themes(visit, dark):
    tab = visit(dark=dark)
    tab.get_by_role("button", name="All settings").click()
    start = tab.get_by_role("button", name="Start with these settings")
    expect(start).to_be_enabled()
    assert start.evaluate(CONTRAST) >= 4.5


@pytest.mark.parametrize("away", ["Explore", "Open best in Explore"])
def test_back_keeps_the_run_and_the_compared_ones_in_the_address(address, new_tab, away):
    tab = new_tab()
    tab.goto(f"{address}train?lang=en&run=recorded/reverse&compare=runs/one&moment=100")
    expect(tab.get_by_test_id("moment-count")).to_contain_text("4/40")
    before = unquote(tab.url)
    tab.get_by_role("button" if " " in away else "link", name=away, exact=True).click()
    expect(tab.get_by_test_id("step-count")).to_be_visible()
    tab.go_back()
    expect(tab.get_by_test_id("moment-count")).to_contain_text("4/40")
    assert unquote(tab.url) == before
