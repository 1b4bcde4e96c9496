"""The address of a page without a server, as a link and in the history."""

import re

from playwright.sync_api import expect

from tests.support.static_site_page import type_source


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


HOLD_TRACES = """() => {
  const { postMessage } = Worker.prototype;
  const held = [];
  Worker.prototype.postMessage = function (message, ...more) {
    const send = () => postMessage.call(this, message, ...more);
    if (message.kind === "trace") held.push(send);
    else send();
  };
  window.release = () => {
    Worker.prototype.postMessage = postMessage;
    for (const send of held) send();
  };
}"""


def test_a_step_reported_late_does_not_replace_the_text_somebody_went_back_to(on_disk):
    tab = on_disk()
    for text in ("1 2 3", "4 5 6 7"):
        type_source(tab, text)
        expect(tab.get_by_test_id("output")).to_have_text(" ".join(reversed(text.split())))
    tab.wait_for_timeout(700)
    tab.evaluate(HOLD_TRACES)
    tab.keyboard.press("Home")
    tab.go_back()
    tab.wait_for_timeout(700)  # the step is reported half a second later
    assert "text=1+2+3&" in tab.url
    tab.evaluate("release()")
    expect(tab.get_by_test_id("strip-source").locator(".chip")).to_have_count(4)
    assert "text=1+2+3&" in tab.url
    tab.go_forward()
    expect(tab.get_by_test_id("source")).to_have_value("4 5 6 7")


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
    expect(title).to_contain_text("解码器")
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


def test_back_leads_away_from_a_text_that_was_refused(on_disk):
    tab = on_disk()
    expect(tab.get_by_test_id("output")).to_have_text("4 1 9 3 7")
    type_source(tab, "1 2 3")
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
    tab.evaluate("location.hash = '#model=copy&text=zzz'")
    expect(tab.get_by_test_id("message")).to_contain_text("zzz")
    expect(tab.get_by_test_id("model")).to_have_value("copy")
    expect(tab.get_by_test_id("output")).to_have_text("7 3 9 1 4")
    tab.go_back()
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
    expect(tab.get_by_test_id("model")).to_have_value("reverse")
