import re
from dataclasses import replace

from explorer.components.lesson.payload import ShownCard, ShownLesson
from explorer.components.lesson_sheet import lesson_sheet

HOSTILE = "<img src=x onerror=alert(1)>"
ASKING = ShownCard("Look.", "Which?", ("7", "9"), 1, "its weight is 0.97.")


def sheet(*cards: ShownCard | None, language: str = "en", **more: object) -> tuple[str, str]:
    """The questions and the answers."""
    html = lesson_sheet(ShownLesson("mine", "Mine", cards, card=0, visit=0, **more), language)
    questions, answers = re.findall(r"<section.*?</section>", html, re.DOTALL)
    return questions, answers


def test_the_answers_are_on_a_page_of_their_own():
    questions, answers = sheet(ShownCard("Nothing is asked."), ASKING, None)
    assert "Nothing is asked" not in questions
    assert [part in questions for part in ("Card 2", "Look.", "Which?")] == [True] * 3
    assert re.findall("<bdi>(.*?)</bdi>", questions) == ["7", "9"]
    assert "0.97" not in questions
    told = ("Card 2", "Which?", "It is 9: its weight is 0.97.")
    assert [part in answers for part in told] == [True] * 3
    assert "It is 9." in sheet(replace(ASKING, because=""))[1]
    html = lesson_sheet(ShownLesson("mine", "Mine", [ASKING], card=0, visit=0), "en")
    assert ".answers { margin-top: 3rem; break-before: page; }" in html


def test_a_teacher_reads_minutes_aims_and_what_is_learnt():
    said = {"minutes": 8, "aims": "Read a row.", "summary": "A row adds up to 1."}
    questions, answers = sheet(ASKING, language="zh", **said)
    assert "8 分钟 · 目标：Read a row." in questions
    assert "A row adds up to 1." not in questions
    assert "现在你可以说：A row adds up to 1." in answers
    assert "Aims" not in sheet(ASKING)[0]
    assert "Now you can say" not in sheet(ASKING)[1]


def test_texts_of_a_lesson_never_become_markup_of_its_sheet():
    hostile = ShownCard(HOSTILE, HOSTILE, (HOSTILE, "1"), 0, HOSTILE)
    shown = ShownLesson("mine", HOSTILE, [hostile], card=0, visit=0, aims=HOSTILE, summary=HOSTILE)
    html = lesson_sheet(shown, "en")
    assert "<img" not in html
    assert html.count("&lt;img") == 11
    assert "default-src 'none'" in html
    assert "http" not in html.replace("http-equiv", "")
