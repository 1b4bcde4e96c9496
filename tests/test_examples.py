import pytest

from explorer import examples
from explorer.library import Entry

MODEL = "english-french"
ENTRY = Entry(MODEL, "", room=257, longest=128, sentences=True)


def test_english_french_opens_with_the_black_cat():
    texts = examples.texts(MODEL)
    assert texts[0] == "The black cat is sleeping on the red chair."
    assert ENTRY.examples == texts


@pytest.mark.parametrize("model", [MODEL, "chinese-english"])
def test_a_translator_has_eight_sentences_each_with_a_hint_in_both_languages(model):
    texts = examples.texts(model)
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


def test_a_model_without_a_file_has_no_sentences():
    assert examples.texts("reverse") == ()
    assert examples.texts("errors") == ()
