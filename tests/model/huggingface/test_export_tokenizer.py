import pytest

from explorer.core.errors import ModelDirectoryError, VocabularyError
from explorer.core.sentencepiece_vocabulary import learn_pieces
from explorer.core.vocabulary import BOS, EOS, TOY_VOCABULARY
from explorer.model.huggingface.export_tokenizer import library_tokenizer
from explorer.model.huggingface.tokens import Tokens, is_usable
from tests.support.toy_sentences import as_table

SENTENCES = [
    "I see 12 cats.",
    "  two\u00a0spaces\u3000and\ta tab ",
    "de\u0301compose\u0301",  # NFD
    "🙂 猫 é € #",
    "▁marks",
    "l’été, où ?",
    "x",
]


@pytest.fixture(scope="module")
def pieces():
    return learn_pieces(as_table().splitlines(), 400)


def test_pieces_have_the_same_ids_labels_and_text(pieces):
    tokens = Tokens(library_tokenizer(pieces, 64, begins=False), len(pieces))
    assert is_usable(tokens.tokenizer)
    for text in SENTENCES:
        ids, labels = tokens.source(text)
        assert ids == [*pieces.encode(text), EOS]
        assert tokens.decode(ids) == pieces.decode(ids).strip()
        assert tokens.labels(ids) == pieces.labels(ids)
        if text.isascii():
            assert labels == pieces.labels(ids)
    _, labels = tokens.source(SENTENCES[1])  # the spaces of the text are in no label
    assert labels == (*pieces.labels(pieces.encode("two spaces and a tab")), "<eos>")


def test_symbols_have_the_same_ids_labels_and_text():
    tokens = Tokens(library_tokenizer(TOY_VOCABULARY, 32, begins=False), len(TOY_VOCABULARY))
    ids, labels = tokens.source(" 7 3\u00a0甲  a")
    assert ids == [*TOY_VOCABULARY.encode("7 3 甲 a"), EOS]
    assert labels == ("7", "3", "甲", "a", "<eos>")
    assert tokens.decode(ids) == "7 3 甲 a"
    assert tokens.target("7 甲") == TOY_VOCABULARY.encode("7 甲")
    with pytest.raises(VocabularyError) as caught:
        tokens.source("7 x")
    assert caught.value.key == "not_tokenized"


def test_a_prompt_begins_with_the_beginning_and_has_no_end(pieces):
    tokenizer = library_tokenizer(pieces, 64, begins=True)
    for text in SENTENCES:
        assert tokenizer(text)["input_ids"] == [BOS, *pieces.encode(text)]


def test_a_vocabulary_of_another_kind_is_refused():
    with pytest.raises(ModelDirectoryError):
        library_tokenizer(object(), 5, begins=False)
