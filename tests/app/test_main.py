"""The script around the pages, and what Streamlit would show of a page's own file."""

import ast
from pathlib import Path

import pytest

import explorer.app
from explorer.app.state.lesson import lessons
from explorer.core import folders
from explorer.core.i18n import say
from tests.support.app_pages import open_page, sent_to
from tests.support.payloads import unpack_payload

APP = Path(explorer.app.__file__).parent
SCRIPTS = [APP / "main.py", *sorted((APP / "views").glob("[!_]*.py"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_has_no_bare_expression(script):
    """Streamlit shows the value of one on the page, also of a string below a constant."""
    _, *statements = ast.parse(script.read_text(encoding="utf-8")).body
    bare = [one.value for one in statements if isinstance(one, ast.Expr)]
    assert all(isinstance(value, ast.Call) for value in bare)


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Attention explorer"), ("zh", "注意力探索器")]
)
def test_the_frame_is_in_the_language_of_the_link(language, title):
    app = open_page(lang=language)
    assert [one.value for one in app.title] == [title]
    assert app.segmented_control(key="language").value == language


@pytest.mark.parametrize(
    ("page", "language", "title"),
    [
        ("explore", "en", "Query and key"),
        ("heads", "zh", "查询与键"),
        ("train", "en", "Query and key"),
    ],
)
def test_all_pages_list_the_lessons(page, language, title):
    header, _ = unpack_payload(sent_to(open_page(page, lang=language), "lesson_list"))
    assert header["strings"]["menu"] == say("lessons.menu", language)
    first = lessons().in_language("query-and-key", language)
    told = {"title": title, "minutes": first.minutes, "aims": first.aims}
    assert header["lessons"][0] == {"name": "query-and-key", **told}
    assert header["broken"] == []


def test_a_broken_file_is_in_the_list(monkeypatch, tmp_path):
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    (tmp_path / "bad.en.md").write_text("no title")
    header, _ = unpack_payload(sent_to(open_page(lang="en"), "lesson_list"))
    (broken,) = header["broken"]
    assert (broken["title"], broken["name"]) == ("bad.en.md", str(tmp_path / "bad.en.md"))
