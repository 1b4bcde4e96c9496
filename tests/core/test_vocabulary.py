import pytest

from explorer.core.errors import VocabularyError
from explorer.core.vocabulary import (
    BOS,
    EOS,
    LONGEST_TEXT,
    PAD,
    TOY_VOCABULARY,
    SymbolVocabulary,
    shown_label,
)


def test_the_ids_of_the_twenty_symbols_follow_the_specials():
    assert len(TOY_VOCABULARY.symbols) == 20
    assert TOY_VOCABULARY.encode("1 9 a g 甲 丁") == [3, 11, 12, 18, 19, 22]
    assert TOY_VOCABULARY.labels([PAD, BOS, EOS, 19]) == ("<pad>", "<bos>", "<eos>", "甲")


def test_decode_inverts_encode_and_drops_specials():
    ids = TOY_VOCABULARY.encode("7 3\t9\n甲")
    assert TOY_VOCABULARY.decode([BOS, *ids, EOS, PAD]) == "7 3 9 甲"


def test_an_unknown_symbol_is_named_and_the_known_ones_are_listed():
    with pytest.raises(VocabularyError) as caught:
        TOY_VOCABULARY.encode("7 x 9")
    assert "“x”" in str(caught.value)
    assert "1 2 3" in str(caught.value)


def test_of_many_known_symbols_the_first_are_listed():
    symbols = tuple(f"s{number}" for number in range(25))
    assert SymbolVocabulary(symbols[:24]).known() == " ".join(symbols[:24])
    assert SymbolVocabulary(symbols).known() == " ".join(symbols[:24]) + " …"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "empty_text"),
        (" \n\t ", "empty_text"),
        ("<script>alert(1)</script>", "unknown_symbol"),
        ("😀", "unknown_symbol"),
        ("مرحبا", "unknown_symbol"),
        ("7\u200b", "unknown_symbol"),
        ("<pad>", "unknown_symbol"),
        ("7 " * LONGEST_TEXT, "text_too_long"),
        (["7 3", "1 2"], "no_text"),
    ],
)
def test_bad_text_is_refused_in_one_sentence(text, key):
    with pytest.raises(VocabularyError) as caught:
        TOY_VOCABULARY.encode(text)
    assert caught.value.key == key
    assert len(str(caught.value)) < 300


def test_control_characters_of_a_symbol_are_escaped():
    with pytest.raises(VocabularyError) as caught:
        TOY_VOCABULARY.encode("\u202e7")
    assert "\\u202e7" in str(caught.value)


@pytest.mark.parametrize(
    "symbols",
    [(), "ab", ["a", "b"], (1, 2), ("a", "a"), ("a b",), ("",), ("<eos>",), ("x" * 17,), (" a",)],
)
def test_symbols_that_could_be_confused_are_refused(symbols):
    with pytest.raises(VocabularyError):
        SymbolVocabulary(symbols)


def test_the_repr_shows_the_first_symbols():
    assert repr(TOY_VOCABULARY) == "SymbolVocabulary(20 symbols: 1 2 3 4 5 6 7 8 9 a b c d e f g …)"


def test_json_round_trip():
    assert SymbolVocabulary.from_json(TOY_VOCABULARY.to_json()) == TOY_VOCABULARY


@pytest.mark.parametrize("data", [{}, {"kind": "pieces"}, {"kind": "symbols", "symbols": "ab"}])
def test_a_foreign_vocabulary_is_refused(data):
    with pytest.raises(VocabularyError):
        SymbolVocabulary.from_json(data)


def test_a_special_token_is_shown_without_brackets_a_byte_in_its_own_and_text_as_it_is():
    tokens = ("<eos>", "<unk>", "<0xC9>", "▁<0xE4><0xB8>", "<b>", "7")
    assert [shown_label(token) for token in tokens] == [
        "eos",
        "unk",
        "‹C9›",
        "▁‹E4›‹B8›",
        "<b>",
        "7",
    ]


@pytest.mark.parametrize("last", [11, 30])
def test_numbers_of_several_digits_end_at_the_last_and_are_not_split(last):
    vocabulary = SymbolVocabulary(tuple(str(one) for one in range(last + 1) if one != 2))
    assert vocabulary.encode(f"0 {last}") == [3, last + 2]
    for text in (str(last + 1), "1 99", "0099", "9" * 5_000):
        with pytest.raises(VocabularyError) as refused:
            vocabulary.encode(text)
        assert refused.value.key == "number_beyond"
        for language in ("en", "zh"):
            said = refused.value.in_language(language)
            assert f" {last}" in said
            assert text.split()[-1][:8] in said
    for text, key in (
        ("2", "unknown_symbol"),
        ("x", "unknown_symbol"),
        ("1,4", "symbols_together"),
    ):
        with pytest.raises(VocabularyError) as refused:
            vocabulary.encode(text)
        assert refused.value.key == key
    with pytest.raises(VocabularyError) as refused:
        SymbolVocabulary(tuple("0123456789")).encode("99")
    assert refused.value.key == "symbols_together"


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("12345", "1 2 3 4 5"),
        ("7, 3，9;1", "7 3 9 1"),
        ("7 39 甲乙", "7 3 9 甲 乙"),
        ("7 x9", ""),
        ("1\u200b2", ""),
        ("12" * 50, ""),
    ],
)
def test_symbols_without_spaces_are_suggested_with_them(text, suggestion):
    with pytest.raises(VocabularyError) as refused:
        TOY_VOCABULARY.encode(text)
    assert refused.value.key == ("symbols_together" if suggestion else "unknown_symbol")
    if suggestion:
        assert f"“{suggestion}”" in str(refused.value)
        assert len(TOY_VOCABULARY.encode(suggestion)) == len(suggestion.split())


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("７ ３ ９", "7 3 9"),
        ("７３９", "7 3 9"),
        ("٧ ٣ ٩", "7 3 9"),
        ("A b Ｃ", "a b c"),
        ("甲 ７", "甲 7"),
    ],
)
def test_other_forms_of_known_symbols_are_suggested_as_they_are_known(text, suggestion):
    with pytest.raises(VocabularyError) as refused:
        TOY_VOCABULARY.encode(text)
    assert refused.value.key == "other_form"
    assert f"“{suggestion}”" in str(refused.value)
    assert len(TOY_VOCABULARY.encode(suggestion)) == len(suggestion.split())


@pytest.mark.parametrize("text", ["７ 🦊", "X ９", "７ " * 3000])
def test_text_with_other_symbols_is_refused_without_a_suggestion(text):
    with pytest.raises(VocabularyError) as refused:
        TOY_VOCABULARY.encode(text)
    assert refused.value.key == "unknown_symbol"


def test_of_several_ways_to_split_the_one_with_the_fewest_symbols_is_suggested():
    with pytest.raises(VocabularyError, match="“ab c”"):
        SymbolVocabulary(("a", "b", "ab", "c")).encode("abc")
