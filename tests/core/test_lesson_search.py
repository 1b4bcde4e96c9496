"""The lessons in folders; and those that ship, in English and Chinese."""

import re

import pytest

from explorer.core import folders
from explorer.core.i18n import LANGUAGES, OWN_LANGUAGES
from explorer.core.lesson_search import find_lessons, lesson_files

CARD = "# {title}\n\n---\nview: model=reverse&text=1+2\n---\nA sentence.\n"
SHIPPED = find_lessons(lesson_files([folders.SHIPPED_LESSONS]))


def test_a_lesson_is_shown_in_the_language_asked_for_or_in_another(tmp_path):
    (tmp_path / "one.en.md").write_text(CARD.format(title="One"))
    (tmp_path / "one.zh.md").write_text(CARD.format(title="一"), encoding="utf-8")
    (tmp_path / "two.zh.md").write_text(CARD.format(title="二"), encoding="utf-8")
    (tmp_path / "three.zh.md").write_text(CARD.format(title="三"), encoding="utf-8")
    (tmp_path / "three.en.md").write_text(CARD.format(title="Three"))
    (tmp_path / "README.md").write_text("About these lessons.")
    found = find_lessons(lesson_files([tmp_path]))
    assert not found.broken
    assert list(found.lessons) == ["one", "three", "two"]
    assert [list(found.lessons[name]) for name in ("one", "three")] == [["en", "zh"]] * 2
    assert found.in_language("one", "zh").title == "一"
    assert found.in_language("two", "en").title == "二"
    assert found.in_language("two", "en").language == "zh"
    assert found.in_language("three", "fr").title == "Three"
    assert found.in_language("four", "en") is None


def test_a_broken_file_is_named_and_the_rest_work(tmp_path):
    (tmp_path / "good.en.md").write_text(CARD.format(title="Good"))
    (tmp_path / "bad.en.md").write_text("no title")
    (tmp_path / "nolanguage.md").write_text(CARD.format(title="Good"))
    (tmp_path / "bytes.en.md").write_bytes(b"\xff\xfe\x00")
    found = find_lessons(lesson_files([tmp_path]))
    assert list(found.lessons) == ["good"]
    assert {one.path.name for one in found.broken} == {"bad.en.md", "nolanguage.md", "bytes.en.md"}
    for one in found.broken:
        for language in LANGUAGES:
            assert one.path.name in one.in_language(language)
    (no_language,) = [str(one) for one in found.broken if one.path.name == "nolanguage.md"]
    assert ".en.md, .zh.md" in no_language


def test_a_teachers_lesson_replaces_the_one_of_the_same_name(tmp_path):
    (tmp_path / "the-mask.en.md").write_text(CARD.format(title="My mask"))
    found = find_lessons(lesson_files([folders.SHIPPED_LESSONS, tmp_path]))
    assert found.in_language("the-mask", "en").title == "My mask"
    assert list(found.lessons) == list(SHIPPED.lessons)


def test_the_name_of_a_lesson_may_have_a_dot(tmp_path):
    (tmp_path / "part.1.en.md").write_text(CARD.format(title="Part 1"))
    assert list(find_lessons(lesson_files([tmp_path])).lessons) == ["part.1"]


def test_the_lessons_that_ship_begin_with_query_and_key():
    assert not SHIPPED.broken
    assert next(iter(SHIPPED.lessons)) == "query-and-key"


@pytest.mark.parametrize("name", SHIPPED.lessons)
def test_both_languages_of_a_lesson_show_and_ask_the_same(name):
    written = SHIPPED.lessons[name]
    assert set(OWN_LANGUAGES) <= set(written)
    english, chinese = written["en"], written["zh"]
    assert 4 <= len(english.cards) <= 7
    for one, other in zip(english.cards, chinese.cards, strict=True):
        assert (one.view, one.highlight, one.answer) == (other.view, other.highlight, other.answer)
        assert len(one.choices) == len(other.choices)
        assert not re.search(r"[\u4e00-\u9fff]", " ".join(one.sentences))


@pytest.mark.parametrize("name", SHIPPED.lessons)
def test_a_chinese_lesson_has_no_english_left(name):
    lesson = SHIPPED.lessons[name]["zh"]
    for card in lesson.cards:
        for sentence in (card.text, card.question, card.because):
            own = re.sub(r"\{[^}]*\}|“[^”]*”|q·k|softmax|logit", "", sentence)
            assert not re.search(r"[A-Za-z]{2,}", own.replace("eos", "").replace("pad", "")), (
                sentence
            )
    assert re.search(r"[\u4e00-\u9fff]", lesson.title)
