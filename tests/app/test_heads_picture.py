"""What names a picture of Heads, and where it opens, on the page itself."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.core import folders
from tests.support.app_pages import asked_in_bar, head_view, open_page

COMPARED = {"part": "compare", "text": "1 2 3", "other_text": "3 2 1"}


@pytest.fixture(autouse=True)
def nothing_done(tmp_path, monkeypatch):
    """Nobody has measured anything."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def head_shown(app: AppTest, component: str, part: str) -> tuple[int, int]:
    view = head_view(app, component)[1][part]["view"]
    return view["layer"], view["head"]


def test_a_head_that_a_link_names_is_the_first_of_each_picture():
    link = {"site": "cross", "layer": "0", "head": "3"}
    for name, part, more in (
        ("head_grid", "trace", {}),
        ("model_comparison", "original", COMPARED),
    ):
        assert head_shown(open_page("heads", **link, **more), name, part) == (0, 3)


def test_another_text_is_another_picture():
    app = open_page("heads", text="1 2 3")
    app = asked_in_bar(app, text="4 5 6")
    assert not app.exception
    assert head_view(app, "head_grid")[1]["trace"]["source"][:3] == ["4", "5", "6"]
