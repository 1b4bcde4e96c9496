"""The list of lessons in the navigation row."""

import pytest

from explorer.core import folders
from explorer.core.i18n import say
from tests.support.app_pages import open_page


@pytest.mark.parametrize(
    ("page", "language", "title"),
    [
        ("explore", "en", "Query and key"),
        ("heads", "zh", "查询与键"),
        ("train", "en", "Query and key"),
    ],
)
def test_all_pages_list_the_lessons(page, language, title):
    app = open_page(page, lang=language)
    (menu,) = [one for one in app.get("menu_button") if "lessons" in one.proto.id]
    assert menu.proto.label == say("lessons.menu", language)
    assert menu.proto.options[0] == f"1 · {title}"


def test_a_broken_file_is_in_the_list(monkeypatch, tmp_path):
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    (tmp_path / "bad.en.md").write_text("no title")
    app = open_page(lang="en")
    (menu,) = [one for one in app.get("menu_button") if "lessons" in one.proto.id]
    assert menu.proto.options[-1].replace("\\", "") == "✗ bad.en.md"
