"""The vocabularies of the browser cut texts as Python's do, SentencePiece among them.

`CASES=all` compares 20,000 sentences and as many hostile texts.
"""

import random
import unicodedata
from pathlib import Path

import pytest

from explorer.core.errors import VocabularyError
from explorer.core.vocabulary import Vocabulary
from explorer.model.checkpoint import load_checkpoint
from tests.support.browser_model import browser_model
from tests.support.random_texts import hostile_text, sentence
from tests.support.sample import sampled

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
TEXTS = 20_000
MODELS = ("english-french", "english-french-early", "chinese-english", "english", "reverse")


def ids_or_error(vocabulary: Vocabulary, text: str) -> list[object]:
    try:
        return [*vocabulary.encode(text)]
    except VocabularyError as error:
        return [error.key, dict(error.facts)]


def test_hostile_texts_are_of_characters_that_this_python_knows():
    texts = "".join(map(hostile_text, range(2000)))
    assert not [letter for letter in set(texts) if unicodedata.category(letter) == "Cn"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("text_of", [sentence, hostile_text])
def test_texts_are_cut_as_in_python(name, text_of):
    path = CHECKPOINTS / f"{name}.safetensors"
    vocabulary = load_checkpoint(path).source_vocabulary
    texts = [text_of(number) for number in sampled(range(TEXTS), 400)]
    with browser_model(path) as browser:
        found = browser.ask("encode", texts=texts)[0]["ids"]
    for text, ids in zip(texts, found, strict=True):
        assert ids == ids_or_error(vocabulary, text), repr(text)


@pytest.mark.parametrize("name", MODELS)
def test_ids_are_written_as_in_python(name):
    path = CHECKPOINTS / f"{name}.safetensors"
    vocabulary = load_checkpoint(path).target_vocabulary
    rows = [random_ids(number, len(vocabulary)) for number in sampled(range(TEXTS), 400)]
    with browser_model(path) as browser:
        written, _ = browser.ask("decode", rows=rows)
    assert written["texts"] == [vocabulary.decode(row) for row in rows]
    assert list(map(tuple, written["labels"])) == [vocabulary.labels(row) for row in rows]


def random_ids(number: int, size: int) -> list[int]:
    """Ids of pieces and of bytes, which are the first, with specials."""
    chance = random.Random(number)
    last = [min(size, chance.choice((8, 260, size))) - 1 for _ in range(chance.randint(0, 12))]
    return [chance.randint(0, most) for most in last]
