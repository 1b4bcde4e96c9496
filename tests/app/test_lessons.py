from explorer.app.lessons import lessons
from explorer.core import folders

CARD = "# {title}\n\n---\nview: model=reverse&text=1+2\n---\nA sentence.\n"


def test_a_teachers_lessons_follow_those_that_ship_and_a_change_is_seen(monkeypatch, tmp_path):
    shipped = list(lessons().lessons)
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    path = tmp_path / "mine.en.md"
    path.write_text(CARD.format(title="Mine"))
    assert list(lessons().lessons) == [*shipped, "mine"]
    path.write_text(CARD.format(title="Mine, too"))
    assert lessons().in_language("mine", "zh").title == "Mine, too"
    path.unlink()
    assert list(lessons().lessons) == shipped


def test_a_broken_file_is_logged_once(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    (tmp_path / "bad.en.md").write_text("no title")
    for _ in range(2):
        assert [one.path.name for one in lessons().broken] == ["bad.en.md"]
    (line,) = [message for message in caplog.messages if "bad.en.md" in message]
    assert "\n" not in line
