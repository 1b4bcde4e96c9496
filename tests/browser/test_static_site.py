"""The static site from disk and from a plain web server, and one file with a model, offline."""

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

import explorer
from explorer.app.static_site import write_site
from explorer.components.live.page import LinkedLesson, LiveModel, site_page
from explorer.model.catalog import shipped_models
from tests.support.page_checks import CLIPPED, SMALL_BUTTONS, settle
from tests.support.player_page import save

MODELS = ("reverse", "english-french", "copy")
BROWSERS_OWN = {"Invalid or unexpected token", "Failed to load resource: net::ERR_FILE_NOT_FOUND"}
"""What the browser says of a script that was cut off or is missing."""


class Quiet(SimpleHTTPRequestHandler):
    """Like `python -m http.server`, without a line for each request."""

    def log_message(self, *facts: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    listed = shipped_models()
    write_site([listed[name] for name in MODELS], out)
    return out


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The site below a path of a plain web server."""
    handler = partial(Quiet, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{site.name}/"
        server.shutdown()


@pytest.fixture
def on_disk(new_visitor: Callable[..., Page], site: Path) -> Callable[..., Page]:
    """Open the site from disk, with the network off."""

    def show(fragment: str = "", width: int = 1440, height: int = 900) -> Page:
        tab = new_visitor(width, height)
        tab.context.set_offline(True)
        tab.goto((site / "index.html").as_uri() + fragment)
        tab.wait_for_selector(".plotted")
        return tab

    return show


Opener = Callable[..., tuple[Page, dict[str, list[Route]]]]


@pytest.fixture
def on_slow_network(chromium: Browser, served: str) -> Iterator[Opener]:
    """Open the served site with the files of some models held back; also the held requests."""
    context = chromium.new_context(service_workers="block", locale="en-US")

    def show(*names: str) -> tuple[Page, dict[str, list[Route]]]:
        tab = context.new_page()
        held: dict[str, list[Route]] = {name: [] for name in names}
        for name, routes in held.items():
            tab.route(f"**/models/{name}.safetensors*", holder(routes))
        tab.goto(served)
        return tab, held

    yield show
    context.close()


def holder(held: list[Route]) -> Callable[[Route], None]:
    """What keeps a request until it is let go."""
    return lambda route: held.append(route)


def let_go(tab: Page, held: list[Route]) -> None:
    while not held:
        tab.wait_for_timeout(20)
    (route,) = held  # asked for once
    route.continue_()


def type_source(tab: Page, text: str) -> None:
    tab.get_by_role("textbox", name="Source").fill(text)
    tab.keyboard.press("Enter")


def test_from_disk_the_browser_decodes_what_python_decodes(on_disk, site):
    tab = on_disk()
    for text in ("甲 乙 丙", "1 2 3 4 5 6 7"):
        type_source(tab, text)
        trace = explorer.load(site / "models" / "reverse.safetensors").trace(text, pad_to=12)
        expect(tab.get_by_test_id("output")).to_have_text(trace.text)
    expect(tab.get_by_test_id("player")).to_be_focused()
    tab.get_by_role("button", name="First").click()
    expect(tab.get_by_role("slider", name="Step")).to_have_value("1")
    tab.keyboard.press("End")
    expect(tab.get_by_role("slider", name="Step")).to_have_value("8")
    assert "text=1+2+3+4+5+6+7" in tab.url
    tab.go_back()
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("甲 乙 丙")


HOLD_CHECKS = """
  const { postMessage } = Worker.prototype;
  const held = [];
  let holding = true;
  Worker.prototype.postMessage = function (message, ...more) {
    const send = () => postMessage.call(this, message, ...more);
    if (message.kind === "integrity" && holding) held.push(send);
    else send();
  };
  window.hold = (now) => {
    holding = now;
    if (!now) for (const send of held.splice(0)) send();
  };
"""


def test_the_checks_of_a_text_follow_its_picture(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script(HOLD_CHECKS)
    tab.goto((site / "index.html").as_uri())
    model = explorer.load(site / "models" / "reverse.safetensors")
    line = tab.get_by_test_id("integrity-line")
    for pad in (4, 0):
        tab.evaluate("hold(true)")
        tab.get_by_test_id("pad").select_option(str(pad))
        type_source(tab, "1 2 3")
        expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
        expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_count(4 + pad)
        expect(line).to_have_text("Checking…")
        expect(line).to_be_disabled()
        settle(tab)
        tab.evaluate("hold(false)")
        checks = model.trace("1 2 3", pad_to=4 + pad if pad else None).integrity()
        expect(line).to_have_text(f"✓ {len(checks)} checks")
        line.click()
        names = tab.get_by_test_id("integrity-line-words").locator("section")
        expect(names).to_have_count(len(checks))
        tab.keyboard.press("Escape")


def test_a_text_refused_while_another_is_checked_leaves_its_checks(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script(HOLD_CHECKS)
    tab.goto((site / "index.html").as_uri())
    line = tab.get_by_test_id("integrity-line")
    expect(line).to_have_text("Checking…")
    type_source(tab, "zzz")
    expect(tab.get_by_test_id("message")).not_to_be_empty()
    settle(tab)
    tab.evaluate("hold(false)")
    expect(line).to_have_text("✓ 6 checks")


COUNT_TRACES = """
  const { postMessage } = Worker.prototype;
  window.traces = 0;
  Worker.prototype.postMessage = function (message, ...more) {
    if (message.kind === "trace") window.traces += 1;
    return postMessage.call(this, message, ...more);
  };
"""


def wait_for_traces(tab: Page, count: int) -> None:
    """Until the page has asked its worker for so many traces."""
    deadline = time.monotonic() + 10
    while tab.evaluate("traces") < count:
        assert time.monotonic() < deadline, f"{tab.evaluate('traces')} traces instead of {count}"
        tab.wait_for_timeout(20)


def test_of_texts_sent_in_a_row_those_between_are_not_decoded(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script(COUNT_TRACES)
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    before = tab.evaluate("traces")
    tab.evaluate(
        """(texts) => {
          const source = document.querySelector("[data-testid=source]");
          for (const text of texts) {
            source.value = text;
            source.form.requestSubmit();
          }
        }""",
        ["a b c", "b c d", "c d e", "d e f"],
    )
    expect(tab.get_by_test_id("output")).to_have_text("f e d")
    assert tab.evaluate("traces") - before <= 2


def test_a_text_that_was_typed_is_shown_without_another_trace(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script(COUNT_TRACES)
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    source, output = tab.get_by_test_id("source"), tab.get_by_test_id("output")

    source.fill("")
    source.press_sequentially("a b c")
    wait_for_traces(tab, 2)
    expect(output).to_have_text("4 1 9 3 7")  # of the example on screen
    source.press("Enter")
    expect(output).to_have_text("c b a")
    assert tab.evaluate("traces") == 2

    source.fill("d e f")
    wait_for_traces(tab, 3)
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_test_id("integrity-line")).to_contain_text("项检查")
    expect(source).to_have_value("d e f")
    source.press("Enter")
    expect(output).to_have_text("f e d")
    expect(tab.get_by_test_id("integrity-line")).to_contain_text("项检查")

    source.fill("x?")
    settle(tab)
    expect(tab.get_by_test_id("message")).to_be_empty()
    source.press("Enter")
    expect(tab.get_by_test_id("message")).to_contain_text("x?")
    expect(output).to_have_text("f e d")


ON_SCREEN = """() => {
  const parts = ["heads", "map"].map((name) => document.querySelector(`[data-testid=${name}]`));
  const legend = document.querySelector(".legend");
  const shown = [parts[0], legend].map((part) => part.outerHTML);
  const strips = [...document.querySelectorAll(".strip-tokens .chip")].map((chip) => {
    const classes = [...chip.classList].sort();
    return [chip.textContent, ...classes, getComputedStyle(chip).backgroundColor].join();
  });
  const canvases = [...parts, legend].flatMap((part) => [...part.querySelectorAll("canvas")]);
  return [...shown, ...strips, ...canvases.map((canvas) => canvas.toDataURL())];
}"""


def test_what_is_on_screen_does_not_depend_on_what_was_before(on_disk):
    tab, fresh = on_disk(), on_disk()
    fresh.evaluate("localStorage.setItem('attention-used', '1')")  # what is said at first is known
    first = tab.get_by_test_id("head-0-0").element_handle()
    assert first

    def compare() -> None:
        for page in (tab, fresh):
            settle(page)
            expect(page.get_by_test_id("integrity-line")).to_contain_text("✓")
            page.wait_for_selector(".map:not(.redrawing)")
            page.mouse.move(1, 1)
            page.evaluate("document.activeElement?.blur()")
        for own, new in zip(tab.evaluate(ON_SCREEN), fresh.evaluate(ON_SCREEN), strict=True):
            assert own == new

    def reopen() -> None:
        fresh.goto("about:blank")
        fresh.goto(tab.url)
        fresh.wait_for_selector(".plotted")

    for text in ("a b c d e f", "f e d c b a", "1 2 3"):
        type_source(tab, text)
        expect(tab.get_by_test_id("output")).to_have_text(" ".join(reversed(text.split())))
        reopen()
        compare()
    assert first.evaluate("(button) => button.isConnected"), "thumbnails were made anew"
    for site in ("encoder", "decoder", "cross"):
        tab.get_by_test_id(f"site-{site}").click()
        expect(tab).to_have_url(re.compile(f"site={site}"))  # a moment later
        reopen()
        compare()
    tab.get_by_test_id("pad").select_option("0")
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_count(4)
    reopen()
    compare()
    tab.get_by_role("combobox", name="Model").select_option("copy")
    expect(tab.get_by_test_id("output")).to_have_text("1 2 3")
    reopen()
    compare()


def test_inside_is_of_the_text_on_screen(on_disk):
    tab, fresh = on_disk("#model=reverse&text=7+3+9+1+4&cell=1.1"), on_disk()
    inside = "[data-testid=inside]"

    def compare(text: str) -> None:
        expect(tab.get_by_test_id("output")).to_have_text(" ".join(reversed(text.split())))
        expect(tab).to_have_url(re.compile("cell="))  # a moment later
        fresh.goto("about:blank")
        fresh.goto(tab.url)
        for page in (tab, fresh):
            expect(page.get_by_test_id("inside-sentence")).to_be_visible()
            settle(page)
        assert tab.locator(inside).inner_text() == fresh.locator(inside).inner_text()

    compare("7 3 9 1 4")
    for text in ("5 5 2 5 2", "1 2", "1 2 3 4 5 6 7 8 9"):
        tab.keyboard.press("i")
        expect(tab.locator(inside)).to_be_hidden()
        type_source(tab, text)
        expect(tab.get_by_test_id("output")).to_have_text(" ".join(reversed(text.split())))
        tab.keyboard.press("i")
        compare(text)
    for text in ("a b c", "1 2 3 4 5 6"):
        link = f"#model=reverse&text={text.replace(' ', '+')}&site=cross&layer=1&head=1&cell=1.1"
        tab.evaluate("(link) => { location.hash = link; }", link)
        compare(text)


def test_back_and_forward_go_through_the_texts(on_disk):
    tab = on_disk()
    source = tab.get_by_role("textbox", name="Source")
    step = tab.get_by_role("slider", name="Step")
    for text in ("1 2 3", "4 5 6 7", "8 9"):
        type_source(tab, text)
        expect(tab.get_by_test_id("output")).to_have_text(" ".join(reversed(text.split())))
        tab.keyboard.press("Home")
        expect(tab).to_have_url(re.compile(f"text={text.replace(' ', '.')}&.*step=1&"))
    for text in ("4 5 6 7", "1 2 3"):
        tab.go_back()
        expect(source).to_have_value(text)
        expect(step).to_have_value("1")
    tab.go_back()
    expect(source).to_have_value("7 3 9 1 4")
    for text in ("1 2 3", "4 5 6 7", "8 9"):
        tab.go_forward()
        expect(source).to_have_value(text)
        expect(step).to_have_value("1")
    tab.get_by_test_id("language-zh").click()
    expect(tab).to_have_url(re.compile("step=1&.*lang=zh$"))
    tab.go_back()
    expect(tab.get_by_role("textbox", name="输入")).to_have_value("4 5 6 7")


def test_a_click_on_a_candidate_decodes_from_there(on_disk, site):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&step=2")
    tab.get_by_test_id("candidates").get_by_role("button").nth(2).click()
    expect(tab.get_by_test_id("unforce-2")).to_be_visible()
    found = re.search(r"force=2\.(\d+)", tab.url)
    assert found
    model = explorer.load(site / "models" / "reverse.safetensors")
    forced = model.trace("7 3 9 1 4", force={2: int(found[1])}, pad_to=8)
    tab.get_by_role("button", name="Last").click()
    expect(tab.get_by_test_id("output")).to_have_text(forced.text)


def test_a_link_keeps_the_mean_and_what_is_seen_after_a_forced_token(on_disk):
    tab = on_disk()
    title, step = tab.get_by_test_id("map-title"), tab.get_by_test_id("step-count")
    tab.get_by_test_id("site-decoder").click()
    tab.get_by_test_id("mean-0").click()
    expect(title).to_have_text("Decoder · L0 mean")
    expect(tab).to_have_url(re.compile("site=decoder&layer=0&step"))
    tab.get_by_test_id("candidates").get_by_role("button").nth(2).click()
    expect(tab).to_have_url(re.compile("force=.*site=decoder&layer=0&step"))
    tab.get_by_test_id("language-zh").click()
    expect(title).to_contain_text("L0")
    seen = title.inner_text(), step.inner_text()
    other = on_disk("#" + tab.url.split("#")[1])
    titles = other.get_by_test_id("map-title"), other.get_by_test_id("step-count")
    assert tuple(one.inner_text() for one in titles) == seen
    expect(other.get_by_test_id("mean-0")).to_have_attribute("aria-pressed", "true")


def test_a_link_keeps_words(on_disk):
    text = "My+grandmother's+caterpillars+marched."
    tab = on_disk(f"#model=english-french&text={text}")
    tab.get_by_test_id("unit-words").click()
    tab.get_by_test_id("first").click()
    tab.get_by_test_id("next").click()
    tab.wait_for_timeout(700)  # until the step is reported
    expect(tab).to_have_url(re.compile("step=.*words=1&"))
    shown = tab.get_by_test_id("step-count").inner_text()
    other = on_disk("#" + tab.url.split("#")[1])
    expect(other.get_by_test_id("unit-words")).to_have_attribute("aria-checked", "true")
    expect(other.get_by_test_id("step-count")).to_have_text(shown)


@pytest.mark.parametrize("unit", ["pieces", "words"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_sentence_is_written_out_in_pieces_and_words(on_disk, language, unit):
    text = "My+grandmother's+caterpillars+marched."
    tab = on_disk(f"#model=english-french&text={text}&words={int(unit == 'words')}&lang={language}")
    player = tab.locator(".player")
    unit_button = tab.get_by_test_id(f"unit-{unit}")
    expect(unit_button).to_have_attribute("aria-checked", "true")

    def names_of_sentences() -> list[str]:
        settle(tab)
        titles = player.evaluate(
            "(node) => [...node.querySelectorAll('[title], [aria-label]')]"
            ".map((one) => `${one.title} ${one.getAttribute('aria-label')}`).join(' ')"
        )
        return re.findall(r"[a-z]+_[a-z]+", f"{player.inner_text()} {titles}")

    assert names_of_sentences() == []
    tab.get_by_test_id("guess").click()
    assert names_of_sentences() == []
    tab.get_by_test_id("guess").click()
    tab.get_by_test_id("site-encoder").click()
    assert names_of_sentences() == []
    tab.get_by_test_id("site-cross").click()
    tab.get_by_test_id("first").click()
    tab.get_by_test_id("candidates").get_by_role("button").nth(2).click()
    expect(tab.get_by_test_id("unforce-1")).to_be_visible()
    expect(unit_button).to_have_attribute("aria-checked", "true")
    assert names_of_sentences() == []


def test_guess_and_inside_work(on_disk):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=3")
    tab.get_by_test_id("inside-open").click()
    sentence = tab.get_by_test_id("inside-sentence")
    expect(sentence).to_be_visible()
    expect(tab.get_by_test_id("inside_part-score")).to_be_hidden()  # needs the program
    figure = save(tab, "inside-svg", "inside_save").path().read_text(encoding="utf-8")
    assert sentence.inner_text().split(";")[0] in figure
    for part in ("before", "after", "depth", "without"):
        tab.get_by_test_id(f"inside_part-{part}").click()
        expect(tab.get_by_test_id(f"inside_part-{part}")).to_have_attribute("aria-checked", "true")
    expect(tab.get_by_test_id("without-other")).to_be_visible()
    padding = tab.get_by_test_id("without-own").locator("tr.current [data-masked]")
    expect(padding).to_have_count(2)
    for cell in padding.all():  # dotted, as on the map
        expect(cell).to_have_css("background-image", re.compile("^radial-gradient"))
    tab.wait_for_url("**inside=without**")
    tab.get_by_role("button", name="Guess").click()
    expect(tab.get_by_test_id("output")).not_to_contain_text("4 1 9")


def test_a_sentence_is_translated_in_both_languages_of_the_page(on_disk, site):
    text = "The black cat is sleeping on the red chair."
    tab = on_disk(f"#model=english-french&text={text.replace(' ', '+')}")
    trace = explorer.load(site / "models" / "english-french.safetensors").trace(text)
    expect(tab.get_by_test_id("output")).to_have_text(trace.text)
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_role("textbox", name="输入")).to_have_value(text)
    expect(tab.get_by_test_id("player")).to_have_attribute("lang", "zh")
    assert tab.url.endswith("lang=zh")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "reverse"),
        ("1 2 x", "not a symbol this model knows"),
        ("1 " * 60, "at most"),
        ("<img src=x onerror=alert(1)>", "“<img” is not a symbol"),
    ],
)
def test_a_text_that_cannot_be_read_gets_one_sentence(on_disk, text, sentence):
    tab = on_disk()
    type_source(tab, text)
    message = tab.get_by_test_id("message")
    expect(message).not_to_have_text("")
    assert tab.locator("img[src=x]").count() == 0
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")
    if text:
        expect(message).to_contain_text(sentence)


def test_a_text_longer_than_those_of_the_training_is_said_to_be_so(on_disk):
    tab = on_disk()
    type_source(tab, "1 " * 16)
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_count(19)
    expect(tab.get_by_test_id("text-hint")).to_have_text("")
    type_source(tab, "1 " * 17)
    expect(tab.get_by_test_id("text-hint")).to_contain_text("training (16 tokens)")
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_test_id("text-hint")).to_contain_text("训练时的任何文本（16 个词元）")


def test_what_of_a_link_cannot_be_followed_is_said(on_disk):
    tab = on_disk("#model=nothing&pad=999&site=%3Cb%3E")
    expect(tab.get_by_test_id("message")).to_contain_text("model, padding")
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")
    tab = on_disk("#model=nothing&text=hi")
    message = tab.get_by_test_id("message")
    expect(message).to_contain_text("shown for: model.")
    expect(message).to_contain_text("“hi” is not a symbol")


def test_an_unknown_language_of_a_link_is_said_by_its_name(on_disk):
    tab = on_disk("#lang=xx")
    expect(tab.get_by_test_id("message")).to_contain_text("language")
    expect(tab.get_by_test_id("message")).not_to_contain_text("part_lang")


def test_what_the_trace_of_a_link_has_not_is_said_in_the_same_sentence(on_disk):
    tab = on_disk("#model=reverse&text=1+2+3&step=99&head=77&layer=9&pad=x")
    message = tab.get_by_test_id("message")
    expect(message).to_contain_text("shown for: padding, layer, head, step.")
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
    assert "layer=9" not in tab.url
    tab = on_disk("#model=reverse&text=1+2+3&step=4&head=3&layer=1")
    expect(tab.get_by_test_id("message")).to_have_text("")
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L1 H3")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Hello 😀", "😀"),
        ("مرحبا", "م ر ح ب …"),
        ("שלום", "ש ל ו ם"),
        ("Hello \u202eabc", "U+202E"),
    ],
)
def test_characters_that_a_translator_does_not_know_are_named(on_disk, text, named):
    tab = on_disk("#model=english-french")
    type_source(tab, text)
    expect(tab.get_by_test_id("text-hint")).to_contain_text(f"no piece for {named}:")
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_test_id("text-hint")).to_contain_text(f"没有 {named} 对应的词片")


def test_a_text_in_the_wrong_language_is_asked_about(on_disk):
    tab = on_disk("#model=english-french")
    type_source(tab, "Le chat noir dort sur la chaise rouge.")
    expect(tab.get_by_test_id("text-hint")).to_contain_text("language that the model writes")


def test_an_error_goes_when_its_text_is_changed_or_left(on_disk):
    tab = on_disk()
    message, source = tab.get_by_test_id("message"), tab.get_by_role("textbox", name="Source")
    for leave in (lambda: source.press("ArrowLeft"), lambda: source.press("Tab")):
        type_source(tab, "1 2 x")
        expect(message).to_contain_text("“x” is not a symbol")
        source.press("Home")
        leave()
        if not tab.get_by_test_id("go").evaluate("(e) => e === document.activeElement"):
            expect(message).not_to_have_text("")
            source.type("1")
        expect(message).to_have_text("")
    expect(source).to_have_value("1 2 x")


def test_a_first_visit_is_told_what_the_model_does_until_it_is_used(chromium, site):
    context = chromium.new_context(locale="en-US")
    tab = context.new_page()
    tab.goto((site / "index.html").as_uri())
    intro = tab.get_by_test_id("intro")
    expect(intro).to_contain_text("writes its symbols in reverse order")
    tab.get_by_test_id("language-zh").click()
    expect(intro).to_contain_text("倒序")
    tab.get_by_test_id("language-en").click()
    tab.get_by_test_id("model").select_option("english-french")
    expect(intro).to_contain_text("translates English into French")
    type_source(tab, "I see him.")
    expect(intro).to_have_text("")
    tab.reload()
    tab.wait_for_selector(".plotted")
    expect(intro).to_have_text("")
    context.close()


def test_a_file_that_is_not_whole_or_missing_is_refused(new_visitor, site, tmp_path, complaints):
    copy = tmp_path / "site"
    copy.mkdir()
    for name in ("index.html", "live.js", "live.css", "plotly.min.js"):
        (copy / name).write_bytes((site / name).read_bytes())
    (copy / "models").mkdir()
    whole = (site / "models" / "reverse.js").read_text()
    tab = new_visitor()
    message = tab.get_by_test_id("message")
    for end in ("", '");'):
        (copy / "models" / "reverse.js").write_text(whole[:200_000] + end)
        tab.goto((copy / "index.html").as_uri())
        expect(message).to_have_text(re.compile("“reverse”.*truncated or damaged"))
    (copy / "models" / "reverse.js").unlink()
    tab.goto((copy / "index.html").as_uri())
    expect(message).to_have_text(re.compile("of reverse is not beside this page"))
    assert set(complaints) == BROWSERS_OWN
    complaints.clear()


@pytest.mark.parametrize("script", [None, "(() => {"])
def test_a_page_whose_script_is_missing_or_cut_off_says_so(
    script, new_visitor, site, tmp_path, complaints
):
    (tmp_path / "index.html").write_bytes((site / "index.html").read_bytes())
    if script:
        (tmp_path / "live.js").write_text(script)
    tab = new_visitor()
    tab.goto((tmp_path / "index.html").as_uri())
    sentence = tab.get_by_text("This page has not started.")
    expect(sentence).to_be_hidden()
    expect(sentence).to_be_visible()
    expect(sentence).to_contain_text("请连同整个文件夹重新复制")
    assert set(complaints) <= {"Unexpected end of input", *BROWSERS_OWN}
    complaints.clear()


def test_an_older_browser_works_or_says_that_it_is_too_old(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script(
        "delete Intl.DisplayNames; delete CSS.escape;"
        "Object.defineProperty(Navigator.prototype, 'languages', { get: () => undefined });"
    )
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_text("This page has not started.")).to_have_count(0)
    tab.add_init_script("delete window.ResizeObserver")
    tab.reload()
    expect(tab.get_by_text("This page has not started.")).to_be_visible()


@pytest.fixture
def with_lessons(new_visitor: Callable[..., Page], site: Path, tmp_path: Path):
    """The first page of a site with other lessons."""

    def show(*lessons: str) -> Page:
        copy = tmp_path / "site"
        shutil.copytree(site, copy)
        listed = shipped_models()["reverse"]
        model = LiveModel(listed, (site / "models" / "reverse.safetensors").read_bytes())
        linked = [LinkedLesson(name, {"en": name, "zh": name}) for name in lessons]
        (copy / "index.html").write_text(site_page([model], linked), "utf-8")
        for name in lessons:
            text = "<!doctype html><link rel=icon href=data:,><h1>Found</h1>"
            (copy / "lessons" / f"{name}.en.html").write_text(text)
        tab = new_visitor()
        tab.goto((copy / "index.html").as_uri())
        tab.wait_for_selector(".plotted")
        return tab

    return show


def test_a_lesson_may_have_any_name(with_lessons):
    tab = with_lessons("50% #1? of 3")
    tab.get_by_test_id("lessons").locator("summary").click()
    tab.get_by_role("link", name="50%").click()
    expect(tab.get_by_role("heading", name="Found")).to_be_visible()


def test_without_lessons_there_is_no_menu_of_them(with_lessons):
    tab = with_lessons()
    expect(tab.get_by_test_id("training")).to_be_visible()
    expect(tab.get_by_test_id("lessons")).to_have_count(0)


def test_a_model_that_cannot_be_opened_leaves_the_one_on_screen(
    new_visitor, site, tmp_path, complaints
):
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    (copy / "models" / "english-french.js").unlink()
    tab = new_visitor()
    tab.goto((copy / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("model").select_option("english-french")
    expect(tab.get_by_test_id("message")).to_contain_text("english-french")
    expect(tab.get_by_test_id("model")).to_have_value("reverse")
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("7 3 9 1 4")
    assert set(complaints) < BROWSERS_OWN
    complaints.clear()


def test_what_is_done_while_a_model_loads_is_done_with_that_model(on_slow_network, site):
    tab, held = on_slow_network("english-french")
    tab.wait_for_selector(".plotted")
    model, status = tab.get_by_test_id("model"), tab.get_by_test_id("status")
    model.select_option("english-french")
    expect(status).to_have_text("Loading english-french: 0 % of 15.4 MB")
    tab.get_by_test_id("random").click()
    sentence = tab.get_by_role("textbox", name="Source").input_value()
    assert re.search("[a-z]{2}", sentence)
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_role("textbox", name="输入")).to_have_value(sentence)
    expect(status).to_have_text("正在载入 english-french：15.4 MB 的 0 %")
    tab.get_by_test_id("language-en").click()
    type_source(tab, "I love my cat")
    expect(model).to_have_value("english-french")
    expect(status).to_contain_text("Loading english-french")
    let_go(tab, held["english-french"])
    trace = explorer.load(site / "models" / "english-french.safetensors").trace("I love my cat")
    expect(tab.get_by_test_id("output")).to_have_text(trace.text)
    expect(tab.get_by_test_id("message")).to_have_text("")
    expect(model).to_have_value("english-french")
    expect(status).to_have_text("")


def test_what_is_typed_while_a_model_loads_stays_in_the_box(on_slow_network):
    tab, held = on_slow_network("reverse")
    source = tab.get_by_role("textbox", name="Source")
    source.fill("1 2 3")
    let_go(tab, held["reverse"])
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")
    expect(source).to_have_value("1 2 3")
    tab.get_by_test_id("language-zh").click()
    source = tab.get_by_role("textbox", name="输入")
    expect(source).to_have_value("1 2 3")
    source.press("Enter")
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")


def test_the_model_chosen_last_is_the_one_that_is_waited_for(on_slow_network):
    tab, held = on_slow_network("english-french", "copy")
    tab.wait_for_selector(".plotted")
    model, status = tab.get_by_test_id("model"), tab.get_by_test_id("status")
    for name in ("english-french", "copy"):
        model.select_option(name)
        expect(status).to_contain_text(f"Loading {name}: 0 %")
    let_go(tab, held["copy"])
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")
    expect(status).to_have_text("")
    expect(tab.locator("#player.waiting")).to_have_count(0)
    with tab.expect_response("**/english-french.safetensors*") as answer:
        let_go(tab, held["english-french"])
    answer.value.finished()
    expect(model).to_have_value("copy")
    expect(status).to_have_text("")
    model.select_option("english-french")
    expect(tab.get_by_test_id("output")).to_contain_text("chaise rouge")


def test_a_click_on_a_candidate_does_not_undo_the_choice_of_a_model_that_loads(on_slow_network):
    tab, held = on_slow_network("copy")
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("model").select_option("copy")
    candidates = tab.get_by_test_id("candidates").get_by_role("button")
    candidates.nth(2).evaluate("(button) => button.click()")
    let_go(tab, held["copy"])
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")
    expect(tab.get_by_test_id("model")).to_have_value("copy")
    expect(tab.locator(".player.waiting")).to_have_count(0)


def test_two_models_chosen_in_a_row_from_disk_are_both_read(on_disk):
    tab = on_disk()
    for name in ("english-french", "copy", "english-french"):
        tab.get_by_test_id("model").select_option(name)
    expect(tab.get_by_test_id("output")).to_contain_text("chaise rouge")
    expect(tab.get_by_test_id("message")).to_have_text("")
    tab.get_by_test_id("model").select_option("copy")
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")


def test_a_sentence_that_symbols_refuse_goes_on_to_the_translator(on_disk, site):
    tab = on_disk()
    type_source(tab, "I love my cat")
    expect(tab.get_by_test_id("message")).to_contain_text("choose english-french in the list")
    tab.get_by_test_id("model").select_option("english-french")
    trace = explorer.load(site / "models" / "english-french.safetensors").trace("I love my cat")
    expect(tab.get_by_test_id("output")).to_have_text(trace.text)
    expect(tab.get_by_test_id("message")).to_have_text("")
    tab.get_by_test_id("model").select_option("copy")
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("7 3 9 1 4")


def test_a_text_that_the_chosen_model_refuses_leaves_that_model_with_its_example(on_disk):
    tab = on_disk("#model=copy&text=1+2+x")
    expect(tab.get_by_test_id("message")).to_contain_text("“x” is not a symbol")
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("1 2 x")


def test_a_browser_without_workers_is_told_so(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script("delete window.Worker")
    tab.goto((site / "index.html").as_uri())
    expect(tab.get_by_test_id("message")).to_contain_text("no workers")


def test_a_model_too_large_for_the_device_is_not_loaded(new_visitor, site):
    tab = new_visitor()
    tab.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'deviceMemory', { get: () => 0.25 })"
    )
    tab.goto((site / "index.html").as_uri() + "#model=english-french")
    expect(tab.get_by_test_id("message")).to_contain_text("needs about 59 MB")
    assert tab.locator("script[src*=english]").count() == 0


def test_served_it_asks_no_other_origin_and_works_offline_afterwards(
    new_visitor, served, complaints
):
    tab = new_visitor()
    asked: list[str] = []
    tab.context.on("request", lambda request: asked.append(request.url))
    tab.goto(served)
    tab.wait_for_selector(".plotted")
    tab.evaluate("() => navigator.serviceWorker.ready")
    assert len(asked) >= 5
    assert all(url.startswith((served, "blob:", "data:")) for url in asked)
    tab.context.set_offline(True)
    tab.goto(f"{served}#text=1+2+3")
    tab.reload()
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
    tab.goto(f"{served}index.html#text=4+5")
    expect(tab.get_by_test_id("output")).to_have_text("5 4")
    tab.get_by_test_id("model").select_option("copy")
    expect(tab.get_by_test_id("message")).to_contain_text("connect to the network")
    assert complaints == ["Failed to load resource: net::ERR_INTERNET_DISCONNECTED"]
    complaints.clear()


def test_offline_a_page_that_was_not_opened_is_said_to_be_so(new_visitor, served):
    tab = new_visitor()
    tab.goto(served)
    tab.wait_for_selector(".plotted")
    tab.evaluate("() => navigator.serviceWorker.ready")
    tab.context.set_offline(True)
    tab.get_by_test_id("lessons").locator("summary").click()
    tab.get_by_test_id("lessons").get_by_role("link").first.click()
    expect(tab.locator("p[lang=en]")).to_contain_text("not opened before")
    expect(tab.locator("p[lang=zh]")).to_contain_text("离线")
    tab.get_by_role("link", name="← Attention explorer").click()
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")


def test_the_policy_lets_nothing_out(chromium, served):
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(served)
    refused = tab.evaluate(
        "() => fetch('https://example.org/').then(() => 'answered', () => 'refused')"
    )
    assert refused == "refused"
    context.close()


def test_lessons_and_the_recorded_training_lead_back(on_disk):
    tab = on_disk()
    type_source(tab, "a b c")
    expect(tab.get_by_test_id("output")).to_have_text("c b a")
    tab.get_by_role("button", name="First").click()
    tab.wait_for_url("**step=1&**")
    tab.get_by_test_id("lessons").locator("summary").click()
    tab.get_by_test_id("lessons").get_by_role("link").first.click()
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("lesson")).to_be_visible()
    tab.get_by_role("link", name="Attention explorer").click()
    expect(tab.get_by_test_id("source")).to_have_value("a b c")  # what was on screen before
    expect(tab.get_by_role("slider", name="Step")).to_have_value("1")
    tab.get_by_test_id("training").click()
    expect(tab.get_by_role("heading", name="reverse: a recorded training")).to_be_visible()
    expect(tab.get_by_test_id("training-replay")).to_be_visible()
    expect(tab.get_by_test_id("moment")).to_be_visible()
    expect(tab.get_by_test_id("live")).to_be_hidden()  # a recorded training does not go on
    tab.get_by_role("slider").first.press("Home")
    tab.wait_for_url("**#**moment=**")
    tab.get_by_role("link", name="Attention explorer").click()
    expect(tab.get_by_test_id("output")).to_have_text("c")


def test_the_last_card_of_a_lesson_leads_on_and_back(on_disk, site):
    tab = on_disk()
    pages = sorted(path.name for path in (site / "lessons").glob("*.zh.html"))
    tab.goto((site / "lessons" / "query-and-key.zh.html").as_uri())
    following = tab.get_by_test_id("lesson-next")
    for number in range(1, 7):
        expect(tab.get_by_test_id("lesson-progress")).to_have_text(f"{number}/6")
        expect(tab.get_by_test_id("lesson-leave")).to_be_visible(visible=number == 6)
        if number < 6:
            following.click()
    expect(following).to_have_text("下一课")
    following.click()
    expect(tab).to_have_url(re.compile(r"/lessons/one-number-by-hand\.zh\.html$"))
    assert "one-number-by-hand.zh.html" in pages
    tab.goto((site / "lessons" / "what-if.en.html").as_uri())  # the last one with these models
    cards = int(tab.get_by_test_id("lesson-progress").inner_text().split("/")[1])
    for _ in range(cards - 1):
        following.click()
    expect(following).to_be_hidden()
    tab.get_by_role("button", name="Back to the explorer").click()
    expect(tab).to_have_url(re.compile(r"/index\.html"))


def test_a_projector_shows_the_checks_that_a_lesson_speaks_of(new_visitor, site):
    tab = new_visitor()
    tab.goto((site / "lessons" / "padding.en.html").as_uri())
    tab.wait_for_selector(".plotted")
    tab.keyboard.press("p")
    line, progress = tab.get_by_test_id("integrity-line"), tab.get_by_test_id("lesson-progress")
    expect(line).to_be_hidden()
    for number in range(2, 7):
        tab.get_by_test_id("lesson-next").click()
        expect(progress).to_have_text(f"{number}/6")
    expect(line).to_be_in_viewport(ratio=1)


def test_a_card_after_one_that_was_answered_is_open(on_disk, site):
    tab = on_disk()
    tab.goto((site / "lessons" / "what-if.en.html").as_uri())
    tab.get_by_test_id("lesson-choices").get_by_role("button", name="6").click()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("lesson-progress")).to_have_text("2/5")
    expect(tab.get_by_test_id("strip-target").locator(".predicted")).to_have_text("?")
    answer = tab.get_by_test_id("lesson-answer")
    expect(answer).to_be_empty()
    tab.get_by_test_id("lesson-choices").get_by_role("button", name="9").click()
    expect(answer).not_to_be_empty()


HIDDEN_CHIPS = """[...document.querySelectorAll('.chip.query, .chip.predicted')].filter((chip) => {
  const [one, all] = [chip, chip.parentElement].map((node) => node.getBoundingClientRect());
  return one.top < all.top || one.bottom > all.bottom;
}).map((chip) => chip.textContent)"""


def test_on_a_phone_strips_show_the_step_of_a_text_that_follows_a_longer_one(on_disk):
    tab = on_disk("#model=english-french&text=I.", 390, 844)
    type_source(tab, " ".join(["The old man reads the book on the red chair."] * 3))
    expect(tab.get_by_test_id("strip-source")).to_contain_text("book")
    tab.keyboard.press("End")
    target = tab.get_by_test_id("strip-target")
    expect(tab.locator(".chip.query")).to_be_visible()
    assert target.evaluate("(node) => node.scrollTop") > 0
    type_source(tab, "I love 🐶 and 🍕!")
    expect(tab.get_by_test_id("strip-source")).to_contain_text("love")
    steps = int(tab.get_by_test_id("step-count").inner_text().split("/")[1])
    tab.keyboard.press("Home")
    for step in range(1, steps + 1):
        expect(tab.get_by_test_id("step-count")).to_have_text(f"step {step}/{steps}")
        settle(tab)
        assert tab.evaluate(HIDDEN_CHIPS) == []
        tab.keyboard.press("ArrowRight")


@pytest.fixture
def on_phone(chromium, site, complaints):
    """Open the site on a phone, upright or lying."""
    contexts = []

    def show(fragment: str, width: int = 390, height: int = 844) -> Page:
        size = {"width": width, "height": height}
        context = chromium.new_context(viewport=size, has_touch=True, is_mobile=True)
        contexts.append(context)
        tab = context.new_page()
        tab.goto((site / "index.html").as_uri() + fragment)
        tab.wait_for_selector(".plotted")
        return tab

    yield show
    for context in contexts:
        context.close()


ABOVE_STEPS = """(node) => {
  const box = node.getBoundingClientRect();
  const steps = document.querySelector(".transport").getBoundingClientRect();
  return box.top >= 0 && box.bottom <= steps.top;
}"""


def expect_above_steps(part: Locator) -> None:
    deadline = time.monotonic() + 10
    while not part.evaluate(ABOVE_STEPS):
        assert time.monotonic() < deadline
        part.page.wait_for_timeout(50)


def test_on_a_phone_guess_leads_to_its_choices_and_a_what_if_to_both_outputs(on_phone):
    tab = on_phone("#model=english-french&text=The.cat.is.sleeping.&step=2")
    tab.get_by_test_id("guess").tap()
    choices = tab.get_by_test_id("candidates").get_by_role("button")
    note = tab.get_by_test_id("candidates-note")
    for part in (note, choices.first, choices.last):
        expect_above_steps(part)
    cut = ".candidate .name"
    assert tab.locator(cut).evaluate_all(
        "all => all.every((node) => node.scrollWidth <= node.clientWidth)"
    )
    choices.first.tap()
    expect(note).to_contain_text(re.compile("^[✓✗]"))
    expect_above_steps(note)
    tab.get_by_test_id("guess").tap()
    expect(tab.get_by_test_id("candidates-percent")).to_be_visible()
    tab.locator(".candidate:not([aria-disabled])").first.tap()
    outputs = tab.get_by_test_id("outputs")
    expect(outputs).to_be_visible()
    expect_above_steps(outputs)


def test_what_was_chosen_stands_beside_its_row(on_disk):
    tab = on_disk("#model=english-french&text=The+cat+is+sleeping.&step=2&pad=0")
    tab.get_by_test_id("candidates").get_by_role("button").nth(2).click()
    expect(tab.get_by_test_id("unforce-2")).to_be_visible()
    tab.get_by_test_id("last").click()
    heights = tab.locator(".axis-label").evaluate_all(
        "all => [...new Set(all.map((node) => node.offsetHeight))]"
    )
    assert len(heights) == 1, "a label has two lines"
    forced = tab.locator(".query-label.forced, .predicted-label.forced")
    expect(forced).to_have_count(2)


def test_on_a_phone_that_lies_all_of_the_player_can_be_touched(on_phone):
    tab = on_phone("#model=reverse&text=7+3+9&step=2&cell=1.1", 844, 390)
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible()
    small = """[...document.querySelectorAll('.player :is(button, summary, select, label)')]
      .filter((node) => node.checkVisibility() && node.offsetHeight < 32)
      .map((node) => node.outerHTML.slice(0, 120))"""
    assert tab.evaluate(small) == []
    transport = tab.locator(".transport").bounding_box()
    assert transport is not None
    assert transport["height"] < 60  # one line


def test_what_needs_the_program_gives_its_command(on_disk):
    tab = on_disk()
    menu = tab.get_by_test_id("elsewhere")
    menu.locator("summary").click()
    expect(menu).to_contain_text("attention-explorer class")
    menu.locator("summary").press("Escape")
    expect(menu.locator("code").first).to_be_hidden()
    for elsewhere in (tab.locator("header.site h1"), tab.locator(".map .nsewdrag").first):
        menu.locator("summary").click()
        menu.locator("code").first.click()
        expect(menu.locator("code").first).to_be_visible()
        elsewhere.click()
        expect(menu.locator("code").first).to_be_hidden()


def test_on_a_phone_nothing_is_cut_and_a_tap_steps(chromium, site, complaints):
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, offline=True
    )
    tab = context.new_page()
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.evaluate(CLIPPED) == []
    assert tab.evaluate(SMALL_BUTTONS) == []
    tab.get_by_role("button", name="First").tap()
    expect(tab.get_by_role("slider", name="Step")).to_have_value("1")
    source = tab.get_by_role("textbox", name="Source")
    source.fill("1 2 3")
    tab.get_by_test_id("go").tap()
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
    for name, value in {"enterkeyhint": "go", "autocapitalize": "off"}.items():
        expect(source).to_have_attribute(name, value)
    tab.get_by_test_id("random").tap()
    expect(tab.get_by_role("textbox", name="Source")).not_to_have_value("7 3 9 1 4")
    context.close()


@pytest.mark.parametrize("width", [320, 360, 390])
def test_on_a_phone_menus_and_the_names_of_models_are_whole(chromium, site, width):
    context = chromium.new_context(
        viewport={"width": width, "height": 740}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    for name in ("lessons", "elsewhere"):
        tab.get_by_test_id(name).locator("summary").tap()
        box = tab.get_by_test_id(name).locator(".menu").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    model = tab.get_by_test_id("model")
    expect(model.locator("option").first).to_have_text("reverse · 100.0 % exact")
    assert model.bounding_box()["width"] >= width - 30
    tab.set_viewport_size({"width": 1000, "height": 740})
    expect(model.locator("option").first).to_contain_text("2+2 layers")
    context.close()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_on_a_phone_the_steps_stay_in_reach_beside_the_map(chromium, site, width, height):
    context = chromium.new_context(
        viewport={"width": width, "height": height}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    steps = tab.get_by_role("toolbar")
    expect(steps).to_be_in_viewport(ratio=1)
    tab.locator(".legend").scroll_into_view_if_needed()
    expect(tab.locator(".map")).to_be_in_viewport()
    expect(steps).to_be_in_viewport(ratio=1)
    row = tab.locator(".overlay .outline").bounding_box()
    steps.get_by_role("button", name="Next").tap()
    expect(tab.get_by_role("slider", name="Step")).to_have_value("5")
    assert tab.locator(".overlay .outline").bounding_box()["y"] > row["y"]
    context.close()


def test_one_file_with_a_model_decodes_offline(open_html, tmp_path):
    model = explorer.load(Path(__file__).parents[2] / "checkpoints" / "sort.safetensors")
    path = tmp_path / "sort.html"
    model.to_html(path, text="9 1 5", pad=1)
    tab = open_html(path.read_text("utf-8"))
    expect(tab.get_by_test_id("output")).to_have_text("1 5 9")
    expect(tab.get_by_test_id("model-name")).to_have_text("sort")
    type_source(tab, "c 3 a 2")
    expect(tab.get_by_test_id("output")).to_have_text("2 3 a c")
