"""The files of the static site, from disk and served, and one file with a model."""

import pytest
from playwright.sync_api import expect

import explorer
from explorer.model.catalog import shipped_models
from tests.support.browsers import ENGINE
from tests.support.static_site_page import forget_browsers_own, type_source


@pytest.mark.parametrize(
    ("page", "script"),
    [
        ("index.html", None),
        ("index.html", "(() => {"),
        ("lessons/query-and-key.zh.html", None),
        ("training.zh.html", None),
    ],
)
def test_a_page_whose_script_is_missing_or_cut_off_says_so(
    page, script, new_visitor, static_site, tmp_path, complaints
):
    (tmp_path / page).parent.mkdir(exist_ok=True)
    (tmp_path / page).write_bytes((static_site / page).read_bytes())
    if script:
        (tmp_path / "live.js").write_text(script)
    tab = new_visitor()
    tab.goto((tmp_path / page).as_uri())
    sentence = tab.locator("#not-started")
    expect(sentence).to_be_hidden()
    expect(sentence).to_be_visible()
    expect(sentence).to_contain_text("请连同整个文件夹重新复制")
    forget_browsers_own(complaints)


def test_an_older_browser_works_or_says_that_it_is_too_old(new_visitor, static_site):
    tab = new_visitor()
    tab.add_init_script(
        "delete Intl.DisplayNames; delete CSS.escape;"
        "Object.defineProperty(Navigator.prototype, 'languages', { get: () => undefined });"
    )
    tab.goto((static_site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_text("This page has not started.")).to_have_count(0)
    tab.add_init_script("delete window.ResizeObserver")
    tab.reload()
    expect(tab.get_by_text("This page has not started.")).to_be_visible()


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
    forget_browsers_own(complaints)


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium tells what an app lacks")
def test_served_it_installs_as_an_app_with_a_window_and_an_icon_of_its_own(new_visitor, served):
    tab = new_visitor()
    tab.goto(served)
    tab.wait_for_selector(".plotted")
    tab.evaluate("() => navigator.serviceWorker.ready")
    session = tab.context.new_cdp_session(tab)
    found = session.send("Page.getAppManifest")
    assert found["errors"] == []
    assert found["url"] == f"{served}app.webmanifest"
    problems = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # A window without a profile on disk installs nothing; all else is as it should be.
    assert {one["errorId"] for one in problems} <= {"in-incognito"}
    kept = """async () => {
      const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
      const all = await Promise.all(caches_.map((cache) => cache.keys()));
      return all.flat().map((request) => request.url);
    }"""
    assert {f"{served}{name}" for name in ("app.webmanifest", "icon-512.png")} <= set(
        tab.evaluate(kept)
    )


def test_from_disk_it_asks_for_no_manifest(new_visitor, static_site, complaints):
    tab = new_visitor()
    tab.goto((static_site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    expect(tab.locator("link[rel=manifest]")).to_have_count(0)


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


def test_a_lesson_that_was_opened_is_whole_offline(new_visitor, served):
    tab = new_visitor()
    tab.goto(served)
    tab.wait_for_selector(".plotted")
    tab.evaluate("() => navigator.serviceWorker.ready")
    tab.goto(f"{served}lessons/one-number-by-hand.en.html")
    tab.wait_for_selector(".plotted")
    tab.context.set_offline(True)
    tab.reload()
    tab.wait_for_selector(".plotted")
    expect(tab.locator("#not-started")).to_be_hidden()
    tab.get_by_test_id("lesson-next").click()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("softmax over")


def test_the_policy_lets_nothing_out(browser, served):
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(served)
    refused = tab.evaluate(
        "() => fetch('https://example.org/').then(() => 'answered', () => 'refused')"
    )
    assert refused == "refused"
    context.close()


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


def test_one_file_with_a_model_decodes_offline(open_html, tmp_path):
    model = explorer.load(shipped_models()["sort"].path)
    path = tmp_path / "sort.html"
    model.to_html(path, text="9 1 5", pad=1)
    tab = open_html(path.read_text("utf-8"))
    expect(tab.get_by_test_id("output")).to_have_text("1 5 9")
    expect(tab.get_by_test_id("model-name")).to_have_text("sort")
    type_source(tab, "c 3 a 2")
    expect(tab.get_by_test_id("output")).to_have_text("2 3 a c")
