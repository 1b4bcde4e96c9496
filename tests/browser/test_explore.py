"""The Explore page in a real browser."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import FloatRect, Page, expect

import explorer
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.model.checkpoint import save_checkpoint
from explorer.training.trainer import Trainer
from tests.support.app_pages import FIRST_TEXT
from tests.support.app_server import BASE_PATH, ROOT, running_app
from tests.support.toy_sentences import TINY_PAIRS, as_table

BAD_INPUT = {
    "<script>document.title='owned'</script>": "“<script>document.title",
    "<img/src=x/onerror=alert(1)>": "“<img/src=x/onerror=alert(1)>”",
    "**b** [x](http://example.com)": "“**b**”",
    "😀 \u202eשלום": "“😀”",
    "1 " * 500: "at most 34",
    " ": "The text is empty",
    "www.example.com": "“www.example.com”",
}


@pytest.fixture
def visit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    """Open the app in a tab of its own and wait for the picture."""

    def open_tab(query: str = "", width: int = 1440, height: int = 900, **looks: bool) -> Page:
        tab = new_tab(width, height, **looks)
        tab.goto(address + query)
        expect(tab.get_by_test_id("step-count")).to_be_visible()
        return tab

    return open_tab


def type_source(tab: Page, text: str) -> None:
    box = tab.get_by_role("textbox", name="Source")
    box.fill(text)
    box.press("Enter")


def source(tab: Page) -> list[str]:
    return tab.get_by_test_id("strip-source").locator(".chip").all_inner_texts()


def query(tab: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(tab.url).query).items()}


def expect_query(tab: Page, name: str, value: str) -> None:
    """Wait until the URL has it; it is written half a second after the last change."""
    expect(tab).to_have_url(re.compile(rf"[?&]{name}={re.escape(value)}(&|$)"))


def overflow(tab: Page, name: str) -> list[int]:
    """Pixels by which the contents of an element are wider and higher than it."""
    return tab.evaluate(
        "(name) => { const e = document.querySelector(name);"
        " return [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight]; }",
        name,
    )


def focused(tab: Page) -> str | None:
    return tab.evaluate("document.activeElement.shadowRoot?.activeElement?.className")


@pytest.mark.parametrize(("language", "dark"), [("en", False), ("zh", True)])
def test_a_first_visit_fits_desktop_screens(visit, language, dark):
    tab = visit(f"?lang={language}", dark=dark)
    assert source(tab)[:7] == [*FIRST_TEXT.split(), "eos"]
    expect(tab.locator(".plotted")).to_be_visible()
    expect(tab.get_by_test_id("integrity")).to_contain_text("✓")
    for width, height in [(1440, 900), (1440, 770), (1366, 630)]:
        tab.set_viewport_size({"width": width, "height": height})
        expect(tab.get_by_test_id("integrity")).to_be_in_viewport()
        for element in ("html", "[data-testid=stMain]"):
            assert overflow(tab, element) == [0, 0], (element, width, height)


def test_a_page_without_its_script_says_so(address, new_tab, complaints):
    tab = new_tab()
    tab.route("**/components.js?*", lambda route: route.abort())
    tab.goto(address)
    notice = tab.get_by_role("alert").filter(has=tab.locator('p[lang="zh"]'))
    expect(notice).to_be_visible()
    for language in ("en", "zh"):
        expect(notice).to_contain_text(say("explore.script_missing", language))
    assert complaints
    assert all("net::ERR_FAILED" in one or "components.js" in one for one in complaints)
    complaints.clear()


def test_under_another_path_the_scripts_are_found(new_tab):
    with running_app(**{BASE_PATH: "school/class/"}) as address:
        for page, shown in (("", "step-count"), ("heads", "head-grid")):
            tab = new_tab()
            tab.goto(address + page)
            expect(tab.get_by_test_id(shown).first).to_be_visible()
            expect(tab.locator(".plotted").first).to_be_visible()
            tab.close()  # it would complain of the server's end


def test_a_small_screen_scrolls_down_and_never_sideways(visit):
    tab = visit("", 1024, 768)
    for width, height in [(1024, 768), (390, 844)]:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_timeout(100)
        assert overflow(tab, "[data-testid=stMain]")[0] == 0
        for control in (
            tab.get_by_role("textbox", name="Source"),
            tab.get_by_role("button", name="Random"),
            tab.get_by_role("button", name="Share"),
        ):
            box = control.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


@pytest.mark.parametrize(("page", "ready"), [("", "step-count"), ("heads", "head-grid")])
def test_a_phone_shows_model_and_text_above_the_picture(address, new_tab, page, ready):
    tab = new_tab(390, 844)
    tab.goto(address + page)
    picture = tab.get_by_test_id(ready).first
    expect(picture).to_be_visible()
    names = (("combobox", "Model"), ("textbox", "Source"))
    controls = [tab.get_by_role(role, name=name) for role, name in names]
    tops = [control.bounding_box()["y"] for control in (*controls, picture)]
    assert max(tops[:2]) < 220
    assert tops[2] > max(tops[:2]) + 40


LONG = (
    "If you had told me that the train was going to be late again this morning, I would have "
    "stayed at home and read the book that my sister gave me when we were in Paris last summer"
)


@pytest.mark.parametrize(
    "where", ["?text=7+3+9+1+4", "?model=english-french-early&text=" + quote(LONG)]
)
def test_on_a_projector_of_1024_x_768_every_step_is_seen_without_scrolling(visit, where):
    tab = visit(where, 1024, 768)
    expect(tab.locator(".plotted")).to_be_visible()
    for projector in (False, True):
        if projector:
            tab.keyboard.press("p")
            expect(tab.locator("html[data-projector]")).to_have_count(1)
        for name in ("first", "next", "last"):
            tab.get_by_test_id(name).click()
            tab.wait_for_timeout(150)
            for part in ("strip-source", "strip-target", "first", "last", "step-count", "map"):
                expect(tab.get_by_test_id(part)).to_be_in_viewport(ratio=0.99)
            for part in ("current-row", "sentence"):
                expect(tab.get_by_test_id(part)).to_be_in_viewport(ratio=0.99)
            for element in ("html", "[data-testid=stMain]"):
                assert overflow(tab, element) == [0, 0]
            cells = tab.locator(".map .clip").bounding_box()
            assert cells is not None
            assert min(cells["width"], cells["height"]) > (160 if projector else 180)


@pytest.mark.parametrize(
    ("other", "shown"), [("Heads", "view-head-grid"), ("Train", "moment-count")]
)
def test_the_way_back_from_another_page_leads_to_the_same_step_and_head(visit, other, shown):
    tab = visit()
    title = tab.get_by_test_id("map-title")
    tab.get_by_test_id("first").click()
    tab.get_by_test_id("next").click()
    tab.get_by_test_id("head-0-2").click()
    expect(tab).to_have_url(re.compile("layer=0&head=2&step=2&ahead=0"))
    tab.get_by_role("link", name=other).click()
    expect(tab.get_by_test_id(shown)).to_be_visible()
    tab.get_by_role("link", name="Explore").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/7")
    expect(title).to_contain_text("L0 H2")
    expect(tab).to_have_url(re.compile("layer=0&head=2&step=2&ahead=0"))


def test_after_enter_the_player_has_the_focus(visit):
    tab = visit()
    type_source(tab, "甲 乙 1")
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    assert source(tab)[:4] == ["甲", "乙", "1", "eos"]
    assert focused(tab) == "player"
    tab.keyboard.press("End")
    for _ in range(2):
        tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/4")
    expect_query(tab, "step", "2")
    assert query(tab)["text"] == "甲 乙 1"


def test_a_reload_and_the_back_button_restore_the_picture(visit):
    tab = visit()
    type_source(tab, "1 2 3")
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    tab.get_by_role("button", name="First", exact=True).click()
    expect_query(tab, "step", "1")
    tab.get_by_test_id("head-1-2").click()
    expect_query(tab, "head", "2")
    tab.get_by_role("button", name="Random").click()
    expect(tab.get_by_test_id("step-count")).not_to_have_text("step 1/4")
    tab.wait_for_function(  # the address is written a moment after the picture
        "new URLSearchParams(location.search).get('text') !== '1 2 3'"
    )
    tab.go_back()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/4")
    expect(tab.get_by_test_id("ahead")).not_to_be_checked()
    tab.get_by_test_id("ahead").check()
    expect_query(tab, "ahead", "1")
    tab.reload()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/4")
    expect(tab.get_by_test_id("map-title")).to_contain_text("L1 H2")
    expect(tab.get_by_test_id("ahead")).to_be_checked()
    assert source(tab)[:3] == ["1", "2", "3"]


def test_back_and_forward_go_from_text_to_text(visit):
    tab = visit()
    type_source(tab, "1 2 3")
    expect_query(tab, "text", "1+2+3")
    type_source(tab, "4 5 6 7")
    expect_query(tab, "text", "4+5+6+7")
    tab.go_back()
    expect_query(tab, "text", "1+2+3")
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    assert source(tab)[:3] == ["1", "2", "3"]
    tab.go_forward()
    expect(tab.get_by_test_id("step-count")).to_contain_text("/5")
    assert source(tab)[:4] == ["4", "5", "6", "7"]


def test_back_closes_a_calculation_that_the_page_before_did_not_show(visit):
    tab = visit("?model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=3")
    tab.get_by_test_id("inside-open").click()
    expect_query(tab, "cell", "2.2")
    type_source(tab, "1 2 3")  # which keeps it open
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    expect(tab.get_by_test_id("inside")).to_be_visible()
    expect_query(tab, "text", "1+2+3")
    tab.go_back()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/6")
    expect(tab.get_by_test_id("inside")).to_be_visible()
    tab.go_back()
    expect(tab.get_by_test_id("inside")).to_be_hidden()
    assert "cell" not in query(tab)


def test_back_takes_one_step_from_page_to_page(visit):
    tab = visit("?lang=en&model=copy&text=1+2+3")
    expect_query(tab, "pad", "0")
    entries = tab.evaluate("history.length")
    for page, shown in (("Train", "moment-count"), ("Heads", "head-grid")):
        tab.get_by_role("link", name=page).click()
        expect(tab.get_by_test_id(shown)).to_be_visible()
    expect_query(tab, "model", "copy")
    assert tab.evaluate("history.length") == entries + 2
    tab.go_back()
    expect(tab.get_by_test_id("moment-count")).to_be_visible()
    tab.go_back()
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    assert source(tab)[:3] == ["1", "2", "3"]


def test_the_outline_of_a_thin_row_leaves_its_cells_free(visit):
    text = "+".join(["the+old+man+saw+her"] * 6)
    tab = visit(f"?model=english-french-early&text={text}&step=9", 1366, 630)
    outline = tab.get_by_test_id("current-row")
    one = outline.bounding_box()
    tab.get_by_test_id("next").click()
    expect(tab.get_by_test_id("step-count")).to_contain_text("step 10/")
    other = outline.bounding_box()
    assert one is not None
    assert other is not None
    thin = other["y"] - one["y"]
    assert 1 < thin < 12
    assert one["height"] == pytest.approx(thin + 4, abs=1)


def test_strips_and_transport_stay_in_view_beside_a_calculation(visit):
    tab = visit(
        "?model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=3&cell=2.2", 1366, 630
    )
    expect(tab.locator(".inside-steps").first).to_be_in_viewport(ratio=1)
    expect(tab.get_by_test_id("strip-target")).to_be_in_viewport(ratio=1)
    expect(tab.get_by_test_id("next")).to_be_in_viewport(ratio=1)
    tab.set_viewport_size({"width": 1440, "height": 900})  # the page was scrolled until now
    expect(tab.get_by_test_id("integrity")).to_be_in_viewport(ratio=1)
    assert overflow(tab, "[data-testid=stMain]") == [0, 0]


def test_a_forced_token_is_decoded_on_from(visit):
    tab = visit("?model=reverse&text=1+2+3&step=2")
    tab.locator(".candidate:not([aria-disabled])").nth(3).click()
    expect(tab.get_by_test_id("changes")).to_contain_text("step 2")
    expect(tab.get_by_test_id("step-count")).to_contain_text("step 2/")
    expect(tab).to_have_url(re.compile(r"force=2\.\d+"))
    forced = int(query(tab)["force"].split(".")[1])
    model = explorer.load(ROOT / "checkpoints" / "reverse.safetensors")
    trace = model.trace("1 2 3", force={2: forced})
    expect(tab.get_by_test_id("step-count")).to_have_text(f"step 2/{len(trace.target_tokens)}")
    tab.get_by_role("button", name="Last", exact=True).click()
    now = tab.get_by_test_id("outputs").locator(".output").nth(1)
    expected = [token.strip("<>") for token in trace.predicted_tokens]
    assert expected != ["3", "2", "1", "eos"]
    expect(now.locator(":scope > :not(.output-name)")).to_have_text(expected)
    tab.get_by_test_id("undo-all").click()
    expect(tab.get_by_test_id("changes")).to_be_hidden()
    assert "force" not in query(tab)


def test_bad_input_gets_one_sentence_and_the_picture_stays(visit):
    tab = visit()
    message = tab.get_by_role("alert")
    for text, words in BAD_INPUT.items():
        type_source(tab, text)
        joined = "\u2060*".join(map(re.escape, words))
        expect(message).to_contain_text(re.compile(joined))
        expect(message).to_have_count(1)
        assert message.locator("a, strong, em, img, script, code").count() == 0
        size = message.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        assert size >= 16
        assert source(tab)[:7] == [*FIRST_TEXT.split(), "eos"]
    assert tab.title() == "Attention explorer"
    type_source(tab, "3 2 1")
    expect(message).to_have_count(0)
    expect(tab.get_by_test_id("step-count")).to_contain_text("/4")
    assert source(tab)[:4] == ["3", "2", "1", "eos"]


def test_a_text_that_a_linked_model_refuses_never_stands_over_another_model(visit):
    tab = visit("?model=copy&text=7,3")
    message, box = tab.get_by_role("alert"), tab.get_by_role("textbox", name="Source")
    written = tab.get_by_test_id("strip-target").locator(".chip")
    expect(message).to_contain_text("On screen: “7 3 9 1 4”, with the model “copy”.")
    expect(tab.get_by_role("combobox", name="Model")).to_have_value("copy")
    expect(box).to_have_value("7,3")
    assert "73914" in "".join(written.all_inner_texts())  # copied, not reversed
    expect_query(tab, "model", "copy")
    tab.reload()
    expect(message).to_have_count(0)
    expect(box).to_have_value("7 3 9 1 4")
    type_source(tab, "1 2")
    expect(tab.get_by_test_id("step-count")).to_contain_text("/3")
    type_source(tab, "1,2")
    expect(message).to_contain_text("On screen: “1 2”, with the model “copy”.")
    assert source(tab)[:3] == ["1", "2", "eos"]


def test_refused_parts_of_a_link_and_its_text_are_told_in_one_message(address, phone):
    tab = phone()
    tab.goto(f"{address}?model=reverse&text=q&site=x&layer=99")
    message, picture = tab.get_by_test_id("message"), tab.get_by_test_id("strip-source")
    expect(message).to_contain_text("“q”")
    expect(message).to_contain_text(say("explore.part_site", "en"))
    above, below = tab.get_by_role("textbox", name="Source").bounding_box(), picture.bounding_box()
    box = message.bounding_box()
    assert above["y"] + above["height"] <= box["y"] < box["y"] + box["height"] <= below["y"]
    type_source(tab, "1 2")
    expect(message).to_be_hidden()
    tab.get_by_role("textbox", name="Source").fill("q")
    tab.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    tab.keyboard.press("Enter")
    expect(message).to_be_in_viewport(ratio=1)


def test_a_long_note_moves_the_page_down_and_covers_nothing(visit, tmp_path: Path):
    trace = explorer.load(ROOT / "checkpoints" / "reverse.safetensors").trace("7 3 9")
    for words in (15, 40):
        noted = replace(trace, facts={**trace.facts, "notes": ["noted " * words] * 2})
        noted.save(tmp_path / f"{words}.trace")
    tab = visit()
    tab.get_by_role("button", name="Files").click()
    for words in (15, 40):
        tab.locator("input[type=file]").set_input_files(tmp_path / f"{words}.trace")
        note = tab.get_by_test_id("text-hint")
        expect(note).to_have_text(re.compile(rf"^(noted *){{{2 * words}}}$"))
        for width, height in [(1440, 900), (1024, 768)]:
            tab.set_viewport_size({"width": width, "height": height})
            expect(note).to_be_in_viewport(ratio=1)
            box = note.bounding_box()
            for name in (".st-key-header button", "[data-testid=source]", "#player"):
                for other in tab.locator(f"{name}:visible").all():
                    assert not overlap(box, other.bounding_box()), (words, width, name)


def overlap(one: FloatRect, other: FloatRect) -> bool:
    """Whether two boxes have an area in common."""
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


def test_the_switch_changes_the_language_and_keeps_the_visit(visit):
    tab = visit("?model=reverse&text=7+3+9")
    type_source(tab, "1 2 3")
    tab.get_by_role("button", name="First", exact=True).click()
    tab.get_by_role("button", name="Next").click()
    expect_query(tab, "step", "2")
    tab.get_by_text("简体中文").click()
    expect(tab.get_by_role("textbox", name="输入")).to_have_value("1 2 3")
    expect(tab.get_by_role("button", name="上一步")).to_be_visible()
    expect(tab.get_by_test_id("step-count")).to_contain_text("2/4")
    assert query(tab)["lang"] == "zh"


def test_a_trace_is_downloaded_and_uploaded_without_its_model(visit, new_tab, tmp_path: Path):
    tab = visit("?model=reverse&text=a+b+c&site=cross&layer=0&head=1&step=3")
    tab.get_by_role("button", name="Previous").click()
    tab.wait_for_url("**step=2**")
    tab.get_by_role("button", name="Files").click()
    files = {}
    for name in ("Trace (.trace)", "Page (HTML, offline)", "Steps table (CSV)"):
        with tab.expect_download() as download:
            tab.get_by_role("button", name=name, exact=True).click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    trace = Trace.load(files["Trace (.trace)"])
    assert trace.text == "c b a"
    page = new_tab(1440, 900)
    page.goto(files["Page (HTML, offline)"].as_uri())
    expect(page.get_by_test_id("step-count")).to_contain_text("2/4")
    expect(page.get_by_test_id("map-title")).to_contain_text("L0 H1")
    assert files["Steps table (CSV)"].read_text("utf-8-sig").startswith("step,rank,token")
    tab.locator("input[type=file]").set_input_files(files["Trace (.trace)"])
    expect(tab.get_by_role("textbox", name="Source")).to_be_disabled()
    assert source(tab)[:3] == ["a", "b", "c"]
    tab.get_by_role("button", name="Delete").click()
    expect(tab.get_by_role("textbox", name="Source")).to_be_enabled()


def test_a_forged_file_is_refused_and_the_picture_stays(visit, tmp_path: Path):
    forged = tmp_path / "forged.trace"
    forged.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 40)
    tab = visit()
    tab.get_by_role("button", name="Files").click()
    tab.locator("input[type=file]").set_input_files(forged)
    expect(tab.get_by_role("alert")).to_contain_text("“forged.trace” is not a trace")
    assert source(tab)[:7] == [*FIRST_TEXT.split(), "eos"]


def test_files_and_share_are_in_the_visitor_s_language_and_readable(visit):
    tab = visit("?lang=zh")
    tab.get_by_role("button", name="分享").click()
    caption = tab.get_by_test_id("stCaptionContainer").first
    expect(caption).to_be_visible()
    opacity = "e => { let o = 1; for (; e; e = e.parentElement) o *= getComputedStyle(e).opacity;"
    assert caption.evaluate(f"{opacity} return o; }}") == 1
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="文件").click()
    expect(tab.get_by_role("button", name="选择文件……", exact=True)).to_be_visible()
    expect(tab.get_by_role("button", name="Upload", exact=True)).to_have_count(0)


def test_stepping_sends_nothing_and_a_pause_one_message(visit):
    tab = visit("?model=reverse&text=1+2+3+4+5+6+7+8")
    tab.evaluate(
        "() => { window.sent = []; window.pressed = []; const send = WebSocket.prototype.send;"
        " WebSocket.prototype.send = function (data) {"
        " window.sent.push(performance.now()); return send.call(this, data); };"
        " addEventListener('keydown', () => window.pressed.push(performance.now()), true); }"
    )
    tab.get_by_role("button", name="First", exact=True).click()
    for _ in range(6):
        tab.keyboard.press("ArrowRight")
    expect_query(tab, "step", "7")
    sent, pressed = tab.evaluate("[window.sent, window.pressed]")
    assert len(pressed) == 6
    assert len([time for time in sent if time > pressed[-1]]) == 1
    for time in sent:  # on a busy machine two presses may be far enough apart for a message
        assert all(time - press > 400 for press in pressed if press < time)


def test_two_visitors_at_once_have_visits_of_their_own(address, new_visitor):
    one, other = new_visitor(), new_visitor()
    one.goto(f"{address}?model=reverse&text=1+1")
    other.goto(f"{address}?model=reverse&text=2+2+2&model=sort")
    for tab in (one, other):
        expect(tab.get_by_test_id("step-count")).to_be_visible()
    type_source(one, "3 3 3 3")
    type_source(other, "4 a")
    expect(one.get_by_test_id("step-count")).to_contain_text("/5")
    expect(other.get_by_test_id("step-count")).to_contain_text("/3")
    assert source(one)[:4] == ["3", "3", "3", "3"]
    assert source(other)[:2] == ["4", "a"]


def test_the_share_link_opens_the_same_picture(visit):
    tab = visit("?model=reverse&text=1+2+3&site=decoder&layer=1&head=1")
    tab.get_by_role("button", name="Share").click()
    link = tab.get_by_test_id("stCode").inner_text().replace("\n", "")
    copy = visit("?" + urlsplit(link).query)
    assert source(copy)[:3] == ["1", "2", "3"]
    expect(copy.get_by_test_id("map-title")).to_contain_text("L1 H1")


@pytest.fixture
def translating(tmp_path) -> Iterator[str]:
    """The running app with one model, which reads sentences."""
    path = tmp_path / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    checkpoint = Trainer(replace(TINY_PAIRS, pairs=str(path))).checkpoint({"credit": "by a class"})
    save_checkpoint(checkpoint, tmp_path / "english-french.safetensors")
    with running_app(EXPLORER_CHECKPOINTS=str(tmp_path)) as address:
        yield address


def test_the_hint_takes_no_height_from_the_picture(translating, new_tab):
    tab = new_tab()
    tab.goto(f"{translating}?lang=en&pad=2")
    hint = tab.get_by_test_id("text-hint")
    expect(hint).to_contain_text("For “chaise rouge” it reads")
    expect(tab.get_by_test_id("step-count")).to_be_visible()
    for width, height in [(1440, 900), (1440, 770), (1366, 630)]:
        tab.set_viewport_size({"width": width, "height": height})
        expect(hint).to_be_in_viewport(ratio=1)
        expect(tab.get_by_test_id("integrity")).to_be_in_viewport()
        assert overflow(tab, "[data-testid=stMain]") == [0, 0], (width, height)
    type_source(tab, "We want water now.")
    expect(hint).to_have_text("This model translates English into French. by a class")
    assert source(tab)[-1] == "pad"
    type_source(tab, "water " * 400)
    expect(tab.get_by_test_id("message")).to_be_visible()
    expect(hint).to_be_hidden()


def test_guessing_hides_what_to_look_at_and_no_note_on_the_model(translating, new_tab):
    tab = new_tab()
    tab.goto(f"{translating}?lang=en&guess=1")
    hint = tab.get_by_test_id("text-hint")
    expect(hint).to_contain_text("For “chaise rouge” it reads")
    expect(tab.locator(".predicted")).to_have_text("?")
    expect(hint).to_be_hidden()
    type_source(tab, "猫在睡觉。")
    expect(hint).to_contain_text("never saw Chinese")
    expect(tab.locator(".predicted")).to_have_text("?")
    expect(hint).to_be_visible()


@pytest.mark.parametrize("width", [390, 700])
def test_a_narrow_window_names_the_app_and_its_pages(visit, width):
    tab = visit("?lang=zh", width=width, height=844)
    expect(tab.get_by_text("注意力探索器").last).to_be_in_viewport()
    for name in ("探索", "注意力头", "训练"):
        expect(tab.get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)
    expect(tab.get_by_test_id("stExpandSidebarButton")).to_be_hidden()
    tab.get_by_role("link", name="训练", exact=True).click()
    expect(tab.get_by_test_id("moment-count")).to_be_attached()


def test_the_controls_are_one_line_and_uncut(visit):
    tab = visit("?lang=en", width=960, height=600)  # 1440 × 900 at 150 %
    names = ("Random", "Files", "Share")
    tops = {tab.get_by_role("button", name=name).bounding_box()["y"] for name in names}
    assert len(tops) == 1
    tab.set_viewport_size({"width": 1440, "height": 900})
    tab.keyboard.press("p")
    padding = tab.get_by_role("combobox", name="Pad")
    expect(tab.locator("html[data-projector]")).to_have_count(1)
    assert padding.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0
