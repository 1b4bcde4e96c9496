"""What components are sent: nothing new while nothing has changed."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.core import folders
from tests.support.app_pages import open_page, sent_to

LINK = {"text": "1 2 3", "step": "2"}
PAGES = [("explore", "player"), ("heads", "head_grid")]


@pytest.fixture(autouse=True)
def reports(tmp_path, monkeypatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def follow(app: AppTest, **query: str) -> AppTest:
    """Go to another query of the same page, as the Back button does."""
    app.query_params.clear()
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize(("page", "component"), PAGES)
def test_another_run_of_the_script_sends_the_same_bytes(page, component):
    app = open_page(page, **LINK)
    before = sent_to(app, component)
    assert sent_to(app.run(), component) == before


@pytest.mark.parametrize(("page", "component"), PAGES)
def test_a_query_that_is_followed_again_sends_other_bytes(page, component):
    """Otherwise the browser would keep the picture at the selection it has now."""
    app = open_page(page, **LINK)
    before = sent_to(app, component)
    app = follow(app, text="3 2 1")
    again = sent_to(follow(app, **LINK), component)
    assert again != before
    assert again[:-4] == before[:-4]  # only the count of followed queries differs


def test_interventions_change_the_comparison_and_not_the_grid():
    app = open_page("heads", **LINK)
    grid = sent_to(app, "head_grid")
    app = follow(app, **LINK, do="keep cross.1.1")
    assert sent_to(app, "head_grid")[:-4] == grid[:-4]
    plain = open_page("heads", **LINK, part="experiments")
    changed = open_page("heads", **LINK, part="experiments", do="keep cross.1.1")
    assert sent_to(plain, "comparison") != sent_to(changed, "comparison")
