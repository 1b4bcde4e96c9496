"""A language of longer sentences from a file: pages say all in it, and no sentence is cut off."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from explorer.core import folders
from explorer.core.i18n import say
from tests.support.app_server import ROOT, running_app
from tests.support.page_checks import TEXT_FAULTS, settle
from tests.support.pseudo_language import CODE, NAME, pseudo, write_pseudo_language

SIZES = [(1440, 900), (1024, 768), (390, 844)]
HEAD = "model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=2"
PICTURE, SECTIONS = ".plotted", ".st-key-sections"

APP = {
    "explore": ("", PICTURE),
    "inside": (f"?{HEAD}&cell=1.4", "[data-testid=inside-softmax]"),
    "guess": (f"?{HEAD}&guess=1", PICTURE),
    "lesson": ("?lesson=query-and-key", "[data-testid=lesson]"),
    "heads": ("heads?model=reverse", "[data-testid=head-grid]"),
    "changes": ("heads?model=reverse&part=compare&with=@changes", PICTURE),
    "search": ("heads?model=reverse&part=search", ".st-key-search-answer-0"),
    "metrics": ("heads?model=reverse&part=metrics", SECTIONS),
    "train": ("train", PICTURE),
}
MENUS = {"files": "explore.files", "share": "explore.share", "lessons": "lessons.menu"}
ON_DISK = {"site": f"index.html#lang={CODE}", "training": "", "exported": "exported.html"}

WRITE = """
import sys
import explorer
from explorer.__main__ import main
main(["site", "--models", "copy", "--out", sys.argv[1]])
explorer.load("copy").trace("7 3 9 1 4").to_html(sys.argv[1] + "/exported.html", sys.argv[2])
"""


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variable that names the folder with the language."""
    folder = tmp_path_factory.mktemp("languages")
    write_pseudo_language(folder)
    return {folders.LANGUAGES_VARIABLE: str(folder)}


@pytest.fixture(scope="module")
def app(languages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with the language."""
    empty = {
        name: str(tmp_path_factory.mktemp("empty"))
        for name in (folders.RUNS_VARIABLE, folders.REPORTS_VARIABLE)
    }
    with running_app(**languages, **empty) as address:
        yield address


@pytest.fixture(scope="module")
def on_disk(languages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with the language, and an exported page in it."""
    out = tmp_path_factory.mktemp("site")
    run = [sys.executable, "-c", WRITE, str(out), CODE]
    subprocess.run(run, cwd=ROOT, env={**os.environ, **languages}, check=True)
    return out


def opened(tab: Page, address: str, shown: str) -> Page:
    tab.goto(address)
    tab.wait_for_selector(shown)
    return tab


def assert_readable(tab: Page) -> None:
    """No sentence is cut off, as soon as the page has taken its new size."""
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        settle(tab)
        tab.evaluate("() => document.querySelector('.stMain, html').scrollTo(0, 0)")
        try:
            tab.wait_for_function(f"() => ({TEXT_FAULTS})().length === 0", timeout=8000)
        except TimeoutError:
            assert tab.evaluate(TEXT_FAULTS) == [], (width, height)


def in_english(tab: Page) -> set[str]:
    """Texts of a page without an accent: of the app all have one."""
    texts = tab.evaluate(
        """() => {
          const within = (root) => [...root.querySelectorAll("*")].flatMap((node) =>
            node.shadowRoot ? [node, ...within(node.shadowRoot)] : [node]);
          const kept = "script, style, template, option, bdi, .token, code, svg, noscript, " +
            "[data-testid=stIconMaterial], .st-key-language, .languages";
          const told = (node) => node.checkVisibility() && !node.closest(kept);
          return within(document.body).filter(told).flatMap((node) =>
            [...node.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data));
        }"""
    )
    return {text.strip() for text in texts if re.search("[A-Za-z]{4}", text) and "«" not in text}


@pytest.mark.parametrize("page", APP)
def test_no_sentence_of_the_app_is_cut_off(app: str, new_tab: Callable[..., Page], page: str):
    path, shown = APP[page]
    address = f"{app}{path}{'&' if '?' in path else '?'}lang={CODE}"
    assert_readable(opened(new_tab(), address, shown))


@pytest.mark.parametrize("menu", MENUS)
def test_no_sentence_of_a_menu_is_cut_off(app: str, new_tab: Callable[..., Page], menu: str):
    tab = opened(new_tab(), f"{app}?lang={CODE}", PICTURE)
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        tab.get_by_role("button", name=pseudo(say(MENUS[menu]))).click()
        tab.wait_for_timeout(300)
        assert tab.evaluate(TEXT_FAULTS) == [], (width, height)
        tab.keyboard.press("Escape")


@pytest.mark.parametrize("page", ON_DISK)
def test_no_sentence_of_a_page_without_a_server_is_cut_off(
    on_disk: Path, new_tab: Callable[..., Page], page: str
):
    address = f"{on_disk.as_uri()}/{ON_DISK[page] or ON_DISK['site']}"
    tab = opened(new_tab(), address, PICTURE)
    if page == "training":
        tab.get_by_test_id("training").click()
        tab.wait_for_selector("[data-testid=training-replay] .plotted")
    assert_readable(tab)
    assert_readable(tab)
    assert in_english(tab) <= {"copy"}


@pytest.mark.parametrize("page", ["explore", "inside", "guess", "heads", "train"])
def test_all_that_a_page_says_is_in_the_language(app: str, new_tab: Callable[..., Page], page: str):
    path, shown = APP[page]
    tab = opened(new_tab(), f"{app}{path}{'&' if '?' in path else '?'}lang={CODE}", shown)
    assert in_english(tab) <= {"Skip to main content", "reverse"}  # Streamlit's own, and a name


def test_a_language_is_chosen_by_its_name_and_kept(app: str, new_visitor: Callable[..., Page]):
    tab = opened(new_visitor(390, 844), app, PICTURE)
    tab.get_by_role("radio", name=NAME).click()
    expect(tab.get_by_role("radio", name=NAME)).to_be_checked()
    expect(tab.get_by_test_id("player")).to_have_attribute("lang", CODE)
    opened(tab, app, PICTURE)
    expect(tab.get_by_test_id("player")).to_have_attribute("lang", CODE)
