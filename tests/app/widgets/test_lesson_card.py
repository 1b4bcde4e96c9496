"""What the browser is sent of a lesson: every answer is the one the model gives."""

from functools import cache
from typing import Any

import pytest

import explorer
from explorer.app.lesson_run import run_look
from explorer.app.state import lesson as lesson_state
from explorer.core import folders, run_answers
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.lesson import Card, find_lessons, lesson_files
from explorer.core.lesson_answers import Place, answer
from explorer.core.trace import Trace
from tests.support.app_pages import open_page, sent_to
from tests.support.payloads import unpack_payload

SHIPPED = find_lessons(lesson_files([folders.SHIPPED_LESSONS]))


def shown_lesson(name: str, card: int, language: str) -> dict[str, Any]:
    page = "train" if SHIPPED.in_language(name, language).in_train else "explore"
    app = open_page(page, lang=language, **lesson_state.link(name, card))
    assert not app.exception
    assert not app.error
    assert not app.warning
    header, _ = unpack_payload(sent_to(app, "lesson"))
    return header["lesson"]


@cache
def traced(model: str, text: str, pad: int, force: str, do: str) -> Trace:
    loaded = explorer.load(folders.shipped_checkpoints() / f"{model}.safetensors")
    forced = {int(step): int(token) for step, token in pairs(force, "_")}
    tokens = loaded.trace(text).source_tokens
    changes = Interventions.parse(do.split(";") if do else ()).options()
    wide = (len(tokens) + pad) or None
    return loaded.trace(text, pad_to=wide, force=forced, capture="full", **changes)


def pairs(text: str, between: str) -> list[list[str]]:
    return [pair.split(".") for pair in text.split(between) if pair]


def value(card: Card, language: str) -> str:
    view = card.view
    if card.in_train:
        look, moment = run_look(card, language)
        return run_answers.answer(card.answer, moment, look.place, language)
    changes = view.get("force", ""), view.get("do", "")
    trace = traced(view["model"], view["text"], int(view.get("pad", 0)), *changes)
    cell = [(int(query), int(key)) for query, key in pairs(view.get("cell", ""), ";")]
    step = int(view["step"]) if "step" in view else None
    head = int(view["layer"]), int(view["head"])
    place = Place(view["site"], *head, step, cell[0] if cell else None)
    return answer(card.answer, trace, place, language)


@pytest.mark.parametrize(
    ("name", "language"), [(n, lang) for n in SHIPPED.lessons for lang in ("en", "zh")]
)
def test_each_answer_is_the_value_of_the_trace(name, language):
    cards = SHIPPED.lessons[name][language].cards
    shown: dict[int, Any] = {}
    for number, card in enumerate(cards):
        if not shown.get(number, {}).get("here"):  # of another text than the cards before
            sent = shown_lesson(name, number + 1, language)["cards"]
            shown |= {index: one for index, one in enumerate(sent) if one is not None}
        one = shown[number]
        assert one["problem"] == ""
        assert one["here"]
        assert "{" not in "".join((one["text"], one["question"], *one["choices"], one["because"]))
        assert one["highlight"] == card.highlight
        assert len(set(one["choices"])) == len(card.choices)
        assert (one["right"] is None) == (not card.asks)
        assert (one["deed"], one["done"]) == (bool(card.deed), False if card.deed else None)
        if card.answer:
            assert one["choices"][one["right"]] == value(card, language)


LESSON = """# Mine

---
view: model={model}&text={text}&pad=2&site=cross&layer=1&head=2&step={step}
question: Which?
choices: 7 | a
answer: predicted token
---
A sentence.
"""


@pytest.mark.parametrize(
    ("model", "text", "step", "key"),
    [
        ("nowhere", "1+2", "1", "no_model"),
        ("reverse", "1+2", "99", "bad_link"),
        ("reverse", "1+2", "x", "bad_link"),
        ("reverse", "1+2", "1", "no_such_choice"),
        ("reverse", "%3F%3F", "1", ""),
    ],
)
def test_a_card_that_cannot_be_shown_says_why(monkeypatch, tmp_path, model, text, step, key):
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    content = LESSON.format(model=model, text=text, step=step)
    (tmp_path / "mine.en.md").write_text(content)
    app = open_page(lang="en", lesson="mine")
    assert not app.exception
    header, _ = unpack_payload(sent_to(app, "lesson"))
    (card,) = header["lesson"]["cards"]
    facts = {"name": model, "answer": "2", "parts": "step"}
    expected = say(f"lessons.{key}", "en", **facts) if key else "??"
    assert expected in card["problem"]


def test_a_lesson_in_another_language_than_the_visitors_is_filled_in_in_its_own(
    monkeypatch, tmp_path
):
    """“padding” is the answer, and one of the choices; the rest of the page is in Chinese."""
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    shipped = folders.SHIPPED_LESSONS / "padding.en.md"
    (tmp_path / "mine.en.md").write_text(shipped.read_text("utf-8"), "utf-8")
    header, _ = unpack_payload(sent_to(open_page(lang="zh", lesson="mine", card="2"), "lesson"))
    card = header["lesson"]["cards"][1]
    assert card["problem"] == ""
    assert card["choices"][card["right"]] == "padding"
    assert header["language"] == "zh"


def test_without_lessons_nothing_is_offered(monkeypatch, tmp_path):
    monkeypatch.setattr(folders, "SHIPPED_LESSONS", tmp_path)
    header, _ = unpack_payload(sent_to(open_page(), "lesson"))
    assert not {"lesson", "offer"} & set(header)
