from explorer.components.lesson.payload import (
    ShownCard,
    ShownLesson,
    empty_payload,
    lesson_payload,
    offer_payload,
)
from tests.support.payloads import unpack_payload


def test_a_lesson_is_sent_with_its_sentences():
    card = ShownCard("Look.", "Which?", ("1", "2"), 1, "so.", "map", {"step": 2}, here=True)
    shown = ShownLesson("mine", "Mine", [card, None], 0, 3, ("next", "The next"))
    header, arrays = unpack_payload(lesson_payload(shown, "zh"))
    assert not arrays
    assert header["language"] == "zh"
    assert header["strings"]["leave"] == "退出"
    lesson = header["lesson"]
    assert lesson["cards"][0]["choices"] == ["1", "2"]
    assert lesson["cards"][0]["right"] == 1
    assert lesson["cards"][1] is None
    assert lesson["following"] == ["next", "The next"]


def test_an_offer_names_the_lesson():
    header, _ = unpack_payload(offer_payload("mine", "Mine", "en"))
    assert header["offer"] == {"name": "mine", "title": "Mine"}
    header, _ = unpack_payload(empty_payload("en"))
    assert not {"offer", "lesson"} & set(header)
