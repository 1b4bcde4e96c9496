import pytest

from explorer.app.state.lesson import lessons
from explorer.core import folders
from explorer.core.i18n import say
from tests.support.app_pages import open_page, sent_to
from tests.support.payloads import unpack_payload


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
