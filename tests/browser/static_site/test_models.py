"""Models of a page without a server, and those that cannot be opened."""

import re

from playwright.sync_api import expect

import explorer
from explorer.model.catalog import shipped_models
from tests.support.static_site_page import forget_browsers_own, let_go, type_source


def test_a_file_that_is_not_whole_or_missing_is_refused(
    new_visitor, static_site, tmp_path, complaints
):
    copy = tmp_path / "site"
    copy.mkdir()
    for name in ("index.html", "live.js", "live.css", "plotly.min.js"):
        (copy / name).write_bytes((static_site / name).read_bytes())
    (copy / "models").mkdir()
    whole = (static_site / "models" / "reverse.js").read_text()
    tab = new_visitor()
    message = tab.get_by_test_id("message")
    for end in ("", '");'):
        (copy / "models" / "reverse.js").write_text(whole[:200_000] + end)
        tab.goto((copy / "index.html").as_uri())
        expect(message).to_have_text(re.compile("“reverse”.*truncated or damaged"))
    (copy / "models" / "reverse.js").unlink()
    tab.goto((copy / "index.html").as_uri())
    expect(message).to_have_text(re.compile(r"models/reverse\.js is missing"))
    forget_browsers_own(complaints)


def test_without_the_first_model_the_next_one_opens(new_visitor, static_site_copy, complaints):
    (static_site_copy / "models" / "reverse.js").unlink()
    tab = new_visitor()
    tab.goto((static_site_copy / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("model")).not_to_have_value("reverse")
    expect(tab.get_by_test_id("message")).to_contain_text("models/reverse.js is missing")
    forget_browsers_own(complaints)


def test_a_model_that_cannot_be_opened_leaves_the_one_on_screen(
    new_visitor, static_site_copy, complaints
):
    (static_site_copy / "models" / "english-french.js").unlink()
    tab = new_visitor()
    tab.goto((static_site_copy / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("model").select_option("english-french")
    expect(tab.get_by_test_id("message")).to_contain_text("english-french")
    expect(tab.get_by_test_id("model")).to_have_value("reverse")
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("7 3 9 1 4")
    expect(tab.get_by_test_id("intro")).to_contain_text("reverse order")
    forget_browsers_own(complaints)


def test_what_is_done_while_a_model_loads_is_done_with_that_model(on_slow_network):
    tab, held = on_slow_network("english-french")
    tab.wait_for_selector(".plotted")
    model, status = tab.get_by_test_id("model"), tab.get_by_test_id("status")
    model.select_option("english-french")
    expect(status).to_have_text("Loading english-french: 0 % of 16.7 MB")
    tab.get_by_test_id("random").click()
    sentence = tab.get_by_role("textbox", name="Source").input_value()
    assert re.search("[a-z]{2}", sentence)
    tab.get_by_test_id("language-zh").click()
    expect(tab.get_by_role("textbox", name="输入")).to_have_value(sentence)
    expect(status).to_have_text("正在载入 english-french：16.7 MB 的 0 %")
    tab.get_by_test_id("language-en").click()
    type_source(tab, "I love my cat")
    expect(model).to_have_value("english-french")
    expect(status).to_contain_text("Loading english-french")
    let_go(tab, held["english-french"])
    trace = explorer.load(shipped_models()["english-french"].path).trace("I love my cat")
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
    with tab.expect_response("**/english-french.js*") as answer:
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


def test_a_sentence_that_symbols_refuse_goes_on_to_the_translator(on_disk):
    tab = on_disk()
    type_source(tab, "I love my cat")
    expect(tab.get_by_test_id("message")).to_contain_text("choose english-french in the list")
    tab.get_by_test_id("model").select_option("english-french")
    trace = explorer.load(shipped_models()["english-french"].path).trace("I love my cat")
    expect(tab.get_by_test_id("output")).to_have_text(trace.text)
    expect(tab.get_by_test_id("message")).to_have_text("")
    tab.get_by_test_id("model").select_option("copy")
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("7 3 9 1 4")


def test_a_text_that_the_chosen_model_refuses_leaves_that_model_with_its_example(on_disk):
    tab = on_disk("#model=copy&text=1+2+x")
    expect(tab.get_by_test_id("message")).to_contain_text("“x” is not a symbol")
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")
    expect(tab.get_by_role("textbox", name="Source")).to_have_value("1 2 x")


def test_a_typed_text_that_the_chosen_model_refuses_stays_in_the_box(on_disk):
    tab = on_disk()
    source = tab.get_by_test_id("source")
    source.fill("1 2 q")
    tab.get_by_test_id("model").select_option("copy")
    expect(tab.get_by_test_id("message")).to_contain_text("“q” is not a symbol")
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")
    expect(source).to_have_value("1 2 q")


def test_a_browser_without_workers_is_told_so(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script("delete window.Worker")
    tab.goto((static_site / "index.html").as_uri())
    expect(tab.get_by_test_id("message")).to_contain_text("no workers")


def test_a_model_too_large_for_the_device_is_not_loaded(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'deviceMemory', { get: () => 0.25 })"
    )
    tab.goto((static_site / "index.html").as_uri() + "#model=english-french")
    expect(tab.get_by_test_id("message")).to_contain_text("needs about 59 MB")
    assert tab.locator("script[src*=english]").count() == 0
