import re
from pathlib import Path

import pytest

from explorer.model import examples
from explorer.model.explorable import load
from tests.support.catalog_members import shipped

SHIPPED = Path(__file__).parents[2] / "checkpoints"

MODEL = "english-french"


def test_english_french_opens_with_the_black_cat():
    texts = examples.for_model(MODEL)
    assert texts[0] == "The black cat is sleeping on the red chair."
    assert shipped(MODEL, most_tokens=257, trained_tokens=128).examples == texts


@pytest.mark.parametrize("model", [MODEL, "chinese-english"])
def test_a_translator_has_eight_sentences_each_with_a_hint_in_both_languages(model):
    texts = examples.for_model(model)
    assert len(texts) == 8
    for text in texts:
        english, chinese = (examples.hint(model, text, language) for language in ("en", "zh"))
        assert english != chinese
        assert 30 < len(english) < 130  # two lines of the header on a small screen
        assert 10 < len(chinese) < 60


@pytest.mark.parametrize(
    ("model", "text"),
    [(MODEL, "Something else."), ("reverse", "7 3 9"), ("../errors", "x"), ("no-model", "")],
)
def test_any_other_text_has_no_hint(model, text):
    assert examples.hint(model, text, "en") == ""


def test_a_toy_model_has_texts_also_of_an_unknown_task():
    assert examples.for_task("sort")[0] == "7 3 9 1 4"
    assert examples.for_task("rotate")


def test_a_model_without_a_file_has_no_sentences():
    assert examples.for_model("reverse") == ()
    assert examples.for_model("errors") == ()


ENGLISH = {"not", "red", "him", "see", "to you", "it", "will give", "do", "There are", "are"}
ENGLISH |= {"Her", "brother", "that", "Sa", "rouge"}  # and two words the model does not write


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_quoted_in_a_hint_are_written_by_the_shipped_model(language):
    model = load(SHIPPED / f"{MODEL}.safetensors")
    for text in examples.for_model(MODEL):
        quoted = set(re.findall(r"“([^”]+)”", examples.hint(MODEL, text, language)))
        assert quoted, text
        written = model.trace(text).text
        for word in quoted - ENGLISH:
            assert word in written, (text, word, written)
        for word in quoted & ENGLISH - {"Sa", "rouge"}:
            assert word in text, (text, word)


def test_the_omitted_word_is_among_the_candidates():
    model = load(SHIPPED / f"{MODEL}.safetensors")
    text = examples.for_model(MODEL)[0]
    steps = model.trace(text).steps()
    after_chair = steps.step[(steps.token == "▁chaise") & steps.chosen].item() + 1
    red = steps[(steps.step == after_chair) & (steps.token == "▁rouge")].iloc[0]
    assert red["rank"] <= 3
    chosen = model.trace(text, force={after_chair: int(red["id"])})
    assert chosen.text == "Le chat noir dort sur la chaise rouge."


@pytest.mark.parametrize(
    ("text", "right"),
    [("猫在桌子上。", "The cat is on the table."), ("他不喝咖啡。", "He doesn't drink coffee.")],
)
def test_chinese_is_translated(text, right):
    assert load(SHIPPED / "chinese-english.safetensors").trace(text).text == right
