import pickle

import pytest

from explorer.core.errors import VocabularyError
from explorer.core.sentencepiece_vocabulary import (
    FEWEST_PIECES,
    PieceVocabulary,
    learn_pieces,
    learn_words,
    tidy,
)
from explorer.core.vocabulary import BOS, EOS, PAD, SPECIALS
from explorer.core.word_segmentation import byte_of
from tests.support.toy_sentences import SENTENCES


@pytest.fixture(scope="module")
def vocabulary() -> PieceVocabulary:
    return learn_pieces([text for pair in SENTENCES for text in pair], 400)


@pytest.mark.parametrize(
    "text",
    [
        "The cat likes the red house.",
        "naïve façade",
        "猫は赤い家が好き。",
        "🐈‍⬛ שלום",
        "<pad> <0x41>",
    ],
)
def test_every_character_comes_back(vocabulary, text):
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text
    assert min(ids) >= len(SPECIALS)  # no text can write a special


def test_characters_without_a_piece_are_shown_as_bytes(vocabulary):
    labels = vocabulary.labels(vocabulary.encode("猫"))
    assert labels == ("▁", "<0xE7>", "<0x8C>", "<0xAB>")  # 猫 in UTF-8
    assert [byte_of(label) for label in labels] == [None, *"猫".encode()]


def test_a_byte_that_is_a_whole_character_is_shown_as_that(vocabulary):
    ids = vocabulary.encode("7 & Z")
    assert vocabulary.labels(ids) == ("▁", "7", "▁", "&", "▁", "Z")
    assert vocabulary.decode(ids) == "7 & Z"


def test_a_forged_piece_that_is_not_utf_8_is_refused(vocabulary):
    longest = max(vocabulary.labels(range(len(vocabulary))), key=len).lstrip("▁")
    place = vocabulary.proto.index(longest.encode())
    forged = vocabulary.proto[:place] + b"\xff\xfe" + vocabulary.proto[place + 2 :]
    with pytest.raises(VocabularyError, match="cannot be read"):
        PieceVocabulary(forged)


def test_half_a_surrogate_pair_is_not_a_character(vocabulary):
    assert vocabulary.decode(vocabulary.encode("a \ud800 b")) == "a ? b"


def test_labels_mark_where_words_begin(vocabulary):
    labels = vocabulary.labels(vocabulary.encode("the cat"))
    assert "".join(labels) == "▁the▁cat"
    assert vocabulary.labels([PAD, BOS, EOS]) == SPECIALS


def test_decoding_drops_specials(vocabulary):
    assert vocabulary.decode([BOS, *vocabulary.encode("the cat"), EOS, PAD]) == "the cat"


def test_equal_text_gives_equal_pieces_and_never_more_than_asked():
    lines = [text for pair in SENTENCES for text in pair]
    assert learn_pieces(lines, 350) == learn_pieces(lines, 350)
    assert len(learn_pieces(lines, 350)) <= 350
    assert len(learn_pieces(lines, 8000)) < 1000  # a short text has no more


def test_every_digit_is_one_piece_whether_it_was_seen_or_not(vocabulary):
    labels = vocabulary.labels(vocabulary.encode("in 2013 or 47"))
    assert [label for label in labels if label.isdigit()] == list("201347")
    assert not any(any(map(str.isdigit, label)) for label in labels if len(label) == 2)


def test_a_large_vocabulary_has_a_piece_for_every_letter():
    lines = [f"{number:04} words of some kind" for number in range(3000)]
    large = learn_pieces(lines, 1000)
    assert [large.labels([i]) for i in large.encode("X")[1:]] == [("X",)]


def test_sampled_pieces_make_the_same_text_and_follow_the_seed(vocabulary):
    lines = [text for pair in SENTENCES for text in pair]
    plain = vocabulary.encode_all(lines)
    sampled = vocabulary.sample_all(lines, 0.2, seed=3)
    assert [vocabulary.decode(ids) for ids in sampled] == lines
    assert sum(map(len, plain)) < sum(map(len, sampled))
    assert vocabulary.sample_all(lines, 0.2, seed=3) == sampled
    assert vocabulary.sample_all(lines, 0.2, seed=4) != sampled
    assert vocabulary.encode_all(lines) == plain  # sampling leaves no trace


def test_its_bytes_make_it_again(vocabulary):
    again = PieceVocabulary(vocabulary.proto)
    assert again == vocabulary
    assert len(again) == len(vocabulary)
    assert again.encode("the cat") == vocabulary.encode("the cat")
    assert pickle.loads(pickle.dumps(again)).encode("the cat") == again.encode("the cat")


@pytest.mark.parametrize("text", ["", "  \u00a0\n "])
def test_an_empty_text_is_refused(vocabulary, text):
    with pytest.raises(VocabularyError, match="empty"):
        vocabulary.encode(text)


def test_a_text_of_five_thousand_words_is_refused_with_the_limit(vocabulary):
    with pytest.raises(VocabularyError, match="20000"):
        vocabulary.encode("cats " * 5000)


@pytest.mark.parametrize("proto", [b"", b"no model", b"\x80" * 300])
def test_malformed_bytes_are_refused(proto):
    with pytest.raises(VocabularyError, match=r"cannot be read|needs"):
        PieceVocabulary(proto)


@pytest.mark.parametrize("lines", [[], [""], [" "], ["x" * 5000]])
def test_no_text_is_refused(lines):
    with pytest.raises(VocabularyError, match="is empty or longer than 4192 bytes"):
        learn_pieces(lines, FEWEST_PIECES)


def test_fewer_pieces_than_characters_are_refused_with_the_fewest():
    lines = [chr(number) for number in range(0x4E00, 0x4E00 + 3000)]
    with pytest.raises(VocabularyError, match=r"400 pieces are too few.*at least 3322 pieces"):
        learn_pieces(lines, 400)
    assert len(learn_pieces(lines, 3322)) == 3322


def test_white_space_is_one_space_and_letters_are_composed():
    assert tidy(" Va\u00a0\u202f!\t\n e\u0301te\u0301 ") == "Va ! été"


def test_each_word_of_few_lines_is_one_piece():
    lines = ["The cat isn't here.", "«Le sous-marin» dort !", "猫在睡觉。", "room 42"]
    known = learn_words(lines, 2000)

    def pieces(text: str) -> list[str]:
        ids = known.encode(text)
        assert known.decode(ids) == text
        return list(known.labels(ids))

    assert pieces("The cat isn't here.") == ["▁The", "▁cat", "▁isn't", "▁here", "."]
    assert pieces("«Le sous-marin» dort !") == [
        "▁",
        "«",
        "Le",
        "▁sous-marin",
        "»",
        "▁dort",
        "▁",
        "!",
    ]
    assert pieces("猫在睡觉。") == ["▁", *"猫在睡觉。"]
    assert pieces("room 24") == ["▁room", "▁", "2", "4"]
    assert pieces("cats") == ["▁", *"cats"] or pieces("cats") == ["▁cat", "s"]
    assert learn_words(lines, 2000).proto == known.proto


def test_words_without_any_spaces_are_learnt_as_pieces():
    lines = ["猫在睡觉。", "狗在睡觉。"] * 5
    assert learn_words(lines, 2000).proto == learn_pieces(lines, 2000).proto
    with pytest.raises(VocabularyError):
        learn_words([], 2000)
