import base64
import re
from dataclasses import asdict, replace

import pytest

from explorer.app.filled_lesson import card_visit, filled_in, whole_lesson
from explorer.app.state.lesson import lessons
from explorer.core.lesson import read_lesson
from explorer.core.vocabulary import SPECIALS, SymbolVocabulary
from explorer.model.catalog import UploadedModel, shipped_models
from explorer.model.explorable import ExplorableModel, load
from explorer.model.listed_model import ModelSummary
from tests.support.app_server import ROOT
from tests.support.payloads import unpack_payload

POSITIONS = ("positions",)
VIEW = "model={}&text=7+3+9&pad=0&site=cross&layer=1&head=2&step=1"
CARD = """---
view: {view}
question: Which?
choices: {choices}
answer: largest key
because: {{weight}}
---
After “{{query token}}”.
"""


def card(view: str = VIEW.format("reverse"), choices: str = "7 | 9"):
    return read_lesson("# Mine\n\n" + CARD.format(view=view, choices=choices)).cards[0]


def test_a_card_says_what_its_trace_says():
    shown = filled_in(card(), shipped_models(), "en")
    assert shown.text == "After “start”."
    assert shown.choices[shown.right] == "9"
    assert re.fullmatch(r"[01]\.\d\d", shown.because)
    assert shown.look["step"] == 1
    assert card_visit(card(), shipped_models()).request.text == "7 3 9"


@pytest.mark.parametrize(("language", "start"), [("en", "start"), ("zh", "开始")])
def test_a_choice_that_is_written_bos_is_the_token_as_the_player_shows_it(language, start):
    query = CARD.replace("largest key", "query token")
    written = query.format(view=VIEW.format("reverse"), choices="9 | bos")
    shown = filled_in(read_lesson("# Mine\n\n" + written).cards[0], shipped_models(), language)
    assert shown.choices == ("9", start)
    assert shown.right == 1


def test_tokens_from_right_to_left_are_set_apart_in_sentences():
    """A choice stands alone, and is compared with the answer and with a guess in the picture."""
    own = load(ROOT / "checkpoints" / "reverse.safetensors").checkpoint
    letters = tuple("אבגדהוזחטיכלמנסעפצקרשתםןץףךabcdefghijklmnopqrstuvwxyz")
    symbols = SymbolVocabulary(letters[: len(own.source_vocabulary) - len(SPECIALS)])
    checkpoint = replace(own, source_vocabulary=symbols, target_vocabulary=symbols)
    summary = ModelSummary.of(asdict(own.model.config), symbols.symbols, own.facts)
    model = UploadedModel("hebrew", "1", summary, ExplorableModel(checkpoint, "hebrew"))
    view = "model=hebrew&text=%D7%90+%D7%91+%D7%92&pad=0&site=cross&layer=1&head=2&step=2"
    shown = filled_in(card(view, "א | ב | ג"), {"hebrew": model}, "en")
    assert shown.problem == ""
    assert re.fullmatch("After “\u2068[א-ת]\u2069”.", shown.text)
    assert shown.choices == ("א", "ב", "ג")
    assert shown.right is not None


@pytest.mark.parametrize(
    "broken",
    [card(VIEW.format("nobody")), card(choices="1 | 2"), card(VIEW.format("reverse") + "&head=9")],
)
def test_a_card_that_cannot_be_shown_says_why(broken):
    shown = filled_in(broken, shipped_models(), "en")
    assert shown.problem
    assert not shown.text


def test_a_whole_lesson_has_its_texts_and_what_is_inside(monkeypatch):
    name = "one-number-by-hand"
    html = whole_lesson(name, lessons().in_language(name, "en"), shipped_models(), "en").decode()
    assert re.findall(r'data-cards="([^"]*)"', html) == ["0 1 2 3 4 5"]
    assert 'data-resource="vectors/cross/0/1"' in html
    assert "<title>One number by hand" in html
    alone = read_lesson("# Mine\n\n" + CARD.format(view=VIEW.format("nobody"), choices="1 | 2"))
    html = whole_lesson("mine", alone, shipped_models(), "en").decode()
    assert "data-cards" not in html.split("\n<script>\n/* Bundled")[0]


def test_a_whole_lesson_is_filled_in_in_the_language_it_is_written_in():
    lesson = lessons().in_language("padding", "en")
    page = whole_lesson("padding", lesson, shipped_models(), "zh").decode()
    payload = re.search(r'id="lesson-payload"[^>]*>([^<]*)<', page)[1]
    shown, _ = unpack_payload(base64.b64decode(payload))
    assert [card["problem"] for card in shown["lesson"]["cards"]] == [""] * len(lesson.cards)


def test_a_page_says_what_to_do_where_the_app_has_another_page():
    """Its model cannot be changed, so it asks for no deed."""
    name, sent = "importance", "In the app you can"
    lesson = lessons().in_language(name, "en")
    asking = lesson.cards[4]
    in_app = filled_in(asking, shipped_models(), "en")
    assert sent not in in_app.text
    assert (in_app.deed, in_app.right) == (True, 0)
    shown = replace(asking, view=card().view, link="heads")
    page = whole_lesson(name, replace(lesson, cards=(shown,)), shipped_models(), "en").decode()
    payload = re.search(r'id="lesson-payload"[^>]*>([^<]*)<', page)[1]
    exported, _ = unpack_payload(base64.b64decode(payload))
    assert exported["lesson"]["questions"] == 0
    (one,) = exported["lesson"]["cards"]
    assert sent in one["text"]
    assert (one["deed"], one["right"], one["link"], one["because"]) == (False, None, "", "")


def test_what_is_added_to_a_number_is_the_sum_that_a_learner_finds():
    """With the printed digits: the card asks for it."""
    (asked, *_) = lessons().in_language("residual", "en").cards
    before, added = re.findall(r"[−\d.]*\d", filled_in(asked, shipped_models(), "en").question)
    shown = filled_in(asked, shipped_models(), "en")
    assert float(before) + float(added) == pytest.approx(float(shown.choices[shown.right]))


def test_without_positions_order_is_lost_as_the_lesson_says():
    """Twice the same symbol gets the same weights, and the same words become the same output."""
    cards = lessons().in_language("positions", "en").cards
    twice = load(shipped_models()["reverse"].path).trace(cards[2].view["text"], without=POSITIONS)
    assert twice.source_tokens[0] == twice.source_tokens[4]
    assert abs(twice.attention("cross")[..., 0] - twice.attention("cross")[..., 4]).max() < 1e-5
    translator = load(shipped_models()["english-french"].path)
    dog, man = (cards[number].view["text"] for number in (5, 6))
    assert translator.trace(dog).text != translator.trace(man).text
    without = [translator.trace(text, without=POSITIONS).text for text in (dog, man)]
    assert without[0] == without[1] not in (translator.trace(dog).text, translator.trace(man).text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_lesson_shows_the_symbols_and_the_one_token_that_its_last_card_names(language):
    """Card 1 calls “4” the last symbol, card 6 “end” the one more token of the source."""
    cards = lessons().in_language("query-and-key", language).cards
    for shown in (card_visit(one, shipped_models()) for one in cards):
        trace = load(shipped_models()[shown.request.model].path).trace(
            shown.request.text, pad_to=shown.request.pad or None
        )
        assert trace.source_tokens == ("7", "3", "9", "1", "4", "<eos>")
