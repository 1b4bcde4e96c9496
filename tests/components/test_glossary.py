"""The technical words: each is explained once, briefly, in both languages."""

import re
from pathlib import Path

import pytest

from explorer.components.player.sentences import player_sentences
from explorer.core.i18n import OWN_LANGUAGES, section

COMPONENTS = Path(__file__).parents[2] / "explorer" / "components"
WORDS = (
    *("term_query", "term_key", "term_value", "term_head", "term_layer", "term_token", "term_bos"),
    *("term_eos", "site_encoder", "site_decoder", "site_cross", "term_mask", "term_padding"),
    *("term_softmax", "gold_weight", "weight"),
)
LONGEST = 140  # letters of a sentence


def test_each_technical_word_is_in_the_glossary():
    assert set(WORDS) <= set(section("glossary"))


@pytest.mark.parametrize("language", OWN_LANGUAGES)
def test_each_word_has_a_name_and_a_short_sentence(language):
    glossary = section("glossary", language)
    names = {key.removesuffix("_title") for key in glossary}
    assert set(glossary) == names | {f"{name}_title" for name in names}
    for name in names:
        assert len(glossary[name]) <= 20
        assert len(glossary[f"{name}_title"]) <= LONGEST, name
        assert glossary[f"{name}_title"].endswith((".", "。"))


def test_no_word_is_explained_by_the_player_too():
    assert not section("glossary").keys() & section("player").keys()
    sentences = [text for key, text in player_sentences().items() if key.endswith("_title")]
    glossary = [text for key, text in section("glossary").items() if key.endswith("_title")]
    assert all(sentences.count(text) == 1 for text in glossary)


def test_every_word_that_a_script_marks_is_in_the_glossary():
    scripts = "".join(path.read_text("utf-8") for path in COMPONENTS.glob("*/js/*.ts"))
    marked = set(re.findall(r'"(term_\w+)"', scripts))
    assert len(marked) >= 10
    assert marked <= set(section("glossary"))
