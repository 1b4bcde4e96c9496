from explorer.components.lesson.payload import (
    ListedLesson,
    ShownCard,
    ShownLesson,
    empty_payload,
    lesson_payload,
    list_payload,
    offer_payload,
)
from explorer.core.lesson import read_lesson
from tests.support.payloads import unpack_payload


def test_a_lesson_is_sent_with_its_sentences():
    card = ShownCard("Look.", "Which?", ("1", "2"), 1, "so.", "map", {"step": 2}, here=True)
    shown = ShownLesson("mine", "Mine", [card, None], 0, 3, ("next", "The next"))
    header, arrays = unpack_payload(lesson_payload(shown, "zh"))
    assert not arrays
    assert header["language"] == "zh"
    assert header["strings"]["leave"] == "退出"
    assert header["strings"]["term_vector"] == "向量"
    lesson = header["lesson"]
    assert lesson["cards"][0]["choices"] == ["1", "2"]
    assert lesson["cards"][0]["right"] == 1
    assert lesson["cards"][1] is None
    assert lesson["following"] == ["next", "The next"]


def test_the_list_has_lessons_and_what_is_none():
    listed = [ListedLesson("mine", "Mine", 8, "Read a row.")]
    header, _ = unpack_payload(list_payload(listed, [ListedLesson("/bad.md", "bad.md")], "zh"))
    assert header["strings"]["menu"] == "课程"
    assert header["lessons"][0]["minutes"] == 8
    assert (header["broken"][0]["name"], header["broken"][0]["title"]) == ("/bad.md", "bad.md")


def test_a_lesson_is_sent_with_what_ends_it():
    head = "# One\nminutes: 8\naims: Read.\nsummary: A row adds up to 1."
    view = "view: model=reverse&text=1"
    asked = "question: Which?\nchoices: 1 | 2\nanswer: largest key"
    lesson = read_lesson(f"{head}\n---\n{view}\n{asked}\n---\nA.\n---\n{view}\n---\nB.")
    shown = ShownLesson.of("one", lesson, [ShownCard(), None])
    header, _ = unpack_payload(lesson_payload(shown, "en"))
    sent = header["lesson"]
    assert (sent["questions"], sent["summary"]) == (1, "A row adds up to 1.")
    assert (sent["minutes"], sent["aims"]) == (8, "Read.")


def test_an_offer_names_the_lesson():
    header, _ = unpack_payload(offer_payload("mine", "Mine", "en"))
    assert header["offer"] == {"name": "mine", "title": "Mine"}
    header, _ = unpack_payload(empty_payload("en"))
    assert not {"offer", "lesson"} & set(header)
