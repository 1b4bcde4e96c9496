"""The script around the pages, and what Streamlit would show of a page's own file."""

import ast
from pathlib import Path

import pytest

import explorer.app
from tests.support.app_pages import open_page

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
