"""Texts on a page without a server: what the browser decodes, says and keeps."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

import explorer
from explorer.model.catalog import shipped_models
from tests.support.page_checks import settle
from tests.support.static_site_page import type_source


def test_from_disk_the_browser_decodes_what_python_decodes(on_disk):
    tab = on_disk()
    for text in ("甲 乙 丙", "1 2 3 4 5 6 7"):
        type_source(tab, text)
        trace = explorer.load(shipped_models()["reverse"].path).trace(text)
        expect(tab.get_by_test_id("output")).to_have_text(trace.text)
    expect(tab.get_by_test_id("player")).to_be_focused()
    tab.get_by_role("button", name="First").click()
    expect(tab.get_by_role("slider", name="Step")).to_have_value("1")
    tab.keyboard.press("End")
    expect(tab.get_by_role("slider", name="Step")).to_have_value("8")
    assert "text=1+2+3+4+5+6+7" in tab.url
    tab.go_back()
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("甲 乙 丙")


TYPED_ON = 800  # ms after which letters are shortcuts again

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


def test_the_checks_of_a_text_follow_its_picture(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script(HOLD_CHECKS)
    tab.goto((static_site / "index.html").as_uri())
    model = explorer.load(shipped_models()["reverse"].path)
    line = tab.get_by_test_id("integrity-line")
    expect(line).not_to_be_empty()  # the first text is drawn, with the button that shows more
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


def test_a_text_refused_while_another_is_checked_leaves_its_checks(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script(HOLD_CHECKS)
    tab.goto((static_site / "index.html").as_uri())
    line = tab.get_by_test_id("integrity-line")
    expect(line).to_have_text("Checking…")
    type_source(tab, "zzz")
    expect(tab.get_by_test_id("message")).not_to_be_empty()
    settle(tab)
    tab.evaluate("hold(false)")
    expect(line).to_have_text("✓ 5 checks")


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


def test_of_texts_sent_in_a_row_those_between_are_not_decoded(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script(COUNT_TRACES)
    tab.goto((static_site / "index.html").as_uri())
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


def test_a_text_that_was_typed_is_shown_without_another_trace(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script(COUNT_TRACES)
    tab.goto((static_site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    source, output = tab.get_by_test_id("source"), tab.get_by_test_id("output")

    for text in ("1 2 3 4 5 6", "6 5 4 3 2 1", "1 2 3 4 5 6"):  # how fast the model is
        type_source(tab, text)
        expect(output).to_have_text(" ".join(reversed(text.split())))
    source.fill("a b c")  # at once: a key that comes late would be a text of its own
    wait_for_traces(tab, 5)
    expect(output).to_have_text("6 5 4 3 2 1")  # of the text on screen
    source.press("Enter")
    expect(output).to_have_text("c b a")
    assert tab.evaluate("traces") == 5

    source.fill("d e f")
    wait_for_traces(tab, 6)
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


USED = "try { localStorage.setItem('attention-used', '1'); } catch {}"
"""What is said at first is known. Set before each page starts: a private window of Chromium keeps
for pages from disk what one of them stored 97 times in 100."""


def test_what_is_on_screen_does_not_depend_on_what_was_before(on_disk):
    tab, fresh = on_disk(), on_disk()
    fresh.context.add_init_script(USED)
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
        tab.wait_for_timeout(700)  # until the address follows
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
    tab.get_by_test_id("pad").select_option("3")
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_count(7)
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
        tab.wait_for_timeout(TYPED_ON)
        tab.keyboard.press("i")
        compare(text)
    for text in ("a b c", "1 2 3 4 5 6"):
        link = f"#model=reverse&text={text.replace(' ', '+')}&site=cross&layer=1&head=1&cell=1.1"
        tab.evaluate("(link) => { location.hash = link; }", link)
        compare(text)


def test_a_click_on_a_candidate_decodes_from_there(on_disk):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&step=2")
    tab.get_by_test_id("candidates").get_by_role("button").nth(2).click()
    expect(tab.get_by_test_id("unforce-2")).to_be_visible()
    found = re.search(r"force=2\.(\d+)", tab.url)
    assert found
    model = explorer.load(shipped_models()["reverse"].path)
    forced = model.trace("7 3 9 1 4", force={2: int(found[1])})
    tab.get_by_role("button", name="Last").click()
    expect(tab.get_by_test_id("output")).to_have_text(forced.text)


@pytest.mark.parametrize(("language", "unit"), [("en", "pieces"), ("zh", "words")])
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


def test_the_browser_changes_its_model_by_a_press(on_disk):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&site=decoder&layer=0&head=1&step=6")
    tab.get_by_test_id("edit").click()
    tab.get_by_test_id("try-head").click()
    expect(tab.get_by_test_id("undo-ablate decoder.0.0")).to_be_visible()
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7 7")
    assert "do=ablate+decoder.0.0" in tab.url
    tab.get_by_test_id("try-mask").click()
    expect(tab.get_by_test_id("undo-omit mask")).to_be_visible()
    tab.reload()
    expect(tab.get_by_test_id("undo-omit mask")).to_be_visible()
    tab.get_by_test_id("undo-all").click()
    expect(tab.get_by_test_id("changes")).to_be_hidden()
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")
    assert "do=" not in tab.url


def test_a_change_that_is_impossible_leaves_the_picture(on_disk):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&do=close+decoder.0.0+0+0")
    expect(tab.get_by_test_id("message")).to_contain_text("Query 1 may attend to nothing")
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")


def test_guess_and_inside_work(on_disk):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=3")
    tab.get_by_test_id("inside-open").click()
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible()
    expect(tab.get_by_test_id("inside_part-score")).to_be_hidden()  # needs the program
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


def test_a_sentence_is_translated_in_both_languages_of_the_page(on_disk):
    text = "The black cat is sleeping on the red chair."
    tab = on_disk(f"#model=english-french&text={text.replace(' ', '+')}")
    trace = explorer.load(shipped_models()["english-french"].path).trace(text)
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
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_count(17)
    expect(tab.get_by_test_id("text-hint")).to_have_text("")
    type_source(tab, "1 " * 17)
    expect(tab.get_by_test_id("text-hint")).to_contain_text("training (16 tokens)")
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_test_id("text-hint")).to_contain_text("训练时的任何文本（16 个词元）")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Hello 😀", "😀"),
        ("مرحبا", "\u2068م ر ح ب …\u2069"),
        ("שלום", "\u2068ש ל ו ם\u2069"),
        ("Hello \u202eabc", "U+202E"),
    ],
)
def test_characters_that_a_translator_does_not_know_are_named(on_disk, text, named):
    tab = on_disk("#model=english-french")
    type_source(tab, text)
    expect(tab.get_by_test_id("text-hint")).to_contain_text(f"does not know {named}:")
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_test_id("text-hint")).to_contain_text(f"此模型不认识 {named}：")


def test_a_text_in_the_wrong_language_is_asked_about(on_disk):
    tab = on_disk("#model=english-french")
    type_source(tab, "Le chat noir dort sur la chaise rouge.")
    expect(tab.get_by_test_id("text-hint")).to_contain_text("language that the model writes")


def test_an_error_stays_as_long_as_its_text_is_in_the_box(on_disk):
    tab = on_disk()
    message, source = tab.get_by_test_id("message"), tab.get_by_test_id("source")
    type_source(tab, "1 2 x")
    expect(message).to_contain_text("“x” is not a symbol")
    tab.get_by_role("button", name="First").click()
    tab.get_by_test_id("language-zh").click()
    expect(message).to_contain_text("模型不认识符号“x”")
    tab.get_by_test_id("language-en").click()
    expect(message).to_contain_text("“x” is not a symbol")
    tab.locator(".candidate:not([aria-disabled])").first.click()  # decodes the text on screen
    expect(tab.get_by_test_id("changes")).to_be_visible()
    expect(message).to_contain_text("“x” is not a symbol")
    expect(source).to_have_value("1 2 x")
    source.press("End")
    source.press("Backspace")
    expect(message).to_have_text("")
    type_source(tab, "1 2 x")
    expect(message).not_to_have_text("")
    tab.get_by_test_id("random").click()
    expect(message).to_have_text("")


def test_the_hint_of_a_text_is_not_said_of_one_that_is_refused(on_disk):
    tab = on_disk("#model=english-french")
    hint = tab.get_by_test_id("text-hint")
    type_source(tab, "猫 is red.")
    expect(hint).to_contain_text("猫")
    type_source(tab, "")
    expect(tab.get_by_test_id("message")).not_to_have_text("")
    expect(hint).to_have_text("")


def test_who_types_on_after_enter_types_into_the_box(on_disk):
    tab = on_disk()
    source = tab.get_by_test_id("source")
    type_source(tab, "1 2 3")
    expect(tab.get_by_test_id("player")).to_be_focused()
    tab.keyboard.type(" p g")
    expect(source).to_have_value("1 2 3 p g")
    expect(tab.get_by_test_id("projector")).to_have_attribute("aria-pressed", "false")
    expect(tab.get_by_test_id("go")).to_have_class("primary")  # not on screen yet
    type_source(tab, "3 2 1")
    expect(tab.get_by_test_id("go")).not_to_have_class("primary")
    expect(tab.get_by_test_id("player")).to_be_focused()
    tab.wait_for_timeout(TYPED_ON)
    tab.keyboard.press("g")
    expect(tab.get_by_test_id("guess")).to_have_attribute("aria-pressed", "true")
    expect(source).to_have_value("3 2 1")


def test_a_first_visit_is_told_what_the_model_does_until_it_is_used(browser, served):
    context = browser.new_context(locale="en-US")
    tab = context.new_page()
    tab.goto(served)
    intro = tab.get_by_test_id("intro")
    expect(intro).to_contain_text("writes symbols in reverse order")
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


def test_the_keys_of_a_remote_step_in_projector(on_disk):
    tab = on_disk("#model=reverse&text=7+3+9+1+4&step=1")
    tab.keyboard.press("p")
    for key, number in [("PageDown", 2), ("PageDown", 3), ("PageUp", 2)]:
        tab.keyboard.press(key)
        expect(tab.get_by_test_id("step-count")).to_have_text(f"step {number}/6")
