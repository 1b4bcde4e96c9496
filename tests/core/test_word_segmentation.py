import pytest

from explorer.core.word_segmentation import (
    Word,
    byte_of,
    grouped,
    is_punctuation,
    is_special,
    known_mark,
    mark_of,
    spaced,
)


def spelled(*tokens: str, mark: str | None = None) -> list[str]:
    words = grouped(tokens, mark)
    positions = [position for word in words for position in range(word.start, word.stop)]
    assert positions == list(range(len(tokens)))  # every token in one word, in order
    return [word.label for word in words]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (("▁The", "▁bl", "a", "ck", "▁cat", "."), ["The", "black", "cat", "."]),
        (("▁", "J", "'", "ai", "▁vu", "▁l", "'", "h", "omme", "."), ["J'ai", "vu", "l'homme", "."]),
        (("▁rendez", "-", "vous", "▁", "-", "▁non", "?"), ["rendez-vous", "-", "non", "?"]),
        (("▁dogs", "'", "▁tails"), ["dogs", "'", "tails"]),
        (("▁«", "ou", "i", "»", ",", "▁3", ",", "5"), ["«", "oui", "»", ",", "3,5"]),
        (
            ("<bos>", "a", "▁", "<eos>", "<pad>", "<pad>"),
            ["<bos>", "a", "▁", "<eos>", "<pad>", "<pad>"],
        ),
        (("▁ca", "<unk>", "e"), ["ca<unk>e"]),
        (("▁!", "..", "▁a"), ["!", "..", "a"]),
        (("<bos>", "'", "a", "▁b"), ["<bos>", "'", "a", "b"]),
    ],
)
def test_pieces_of_a_word_are_joined_and_punctuation_is_separate(tokens, words):
    assert spelled(*tokens) == words


def test_bytes_are_joined_to_the_character_they_spell():
    cat = ("<0xE7>", "<0x8C>", "<0xAB>")
    assert spelled("▁caf", "<0xC3>", "<0xA9>", "s") == ["cafés"]
    assert spelled("▁", *cat, *cat, "<0xE3>", "<0x80>", "<0x82>") == ["猫", "猫", "。"]
    assert spelled("▁a", "<0xE7>", "<0x8C>", "▁b") == ["a<0xE7><0x8C>", "b"]  # half a character


def byte_pieces(text: str) -> tuple[str, ...]:
    """Each byte of `text` as a piece of its own."""
    return tuple(f"<0x{byte:02X}>" for byte in text.encode())


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (("▁", *byte_pieces("👨\u200d👩\u200d👧"), "!"), ["👨\u200d👩\u200d👧", "!"]),
        (("▁", *byte_pieces("👍🏽👍❤\ufe0f")), ["👍🏽", "👍", "❤\ufe0f"]),
        (("▁a", "\u200f", "."), ["a\u200f", "."]),
        (("▁", "\ufeff", "«", "ou", "i"), ["\ufeff«", "oui"]),
        (("▁می", "\u200c", "خواهم"), ["می\u200cخواهم"]),
        (("▁caf", "e", "\u0301", "▁\u200b", "▁b"), ["cafe\u0301", "\u200b", "b"]),
        (("a", "<eos>", "\u200d", "▁b"), ["a", "<eos>", "\u200d", "b"]),
    ],
)
def test_characters_without_a_form_of_their_own_belong_to_a_neighbour(tokens, words):
    assert spelled(*tokens) == words


def test_in_scripts_without_spaces_each_piece_is_a_word():
    assert spelled("▁", "我", "喜欢", "red", "猫", "。") == ["我", "喜欢", "red", "猫", "。"]
    assert spelled("▁안", "녕", "▁하") == ["안녕", "하"]  # Korean has spaces


def test_marks_of_other_vocabularies_are_read():
    assert spelled("<s>", "The", "Ġblack", "Ġcaf", "Ã", "©", "s", ".", "</s>") == [
        "<s>", "The", "black", "cafés", ".", "</s>",
    ]  # fmt: skip
    assert spelled("[CLS]", "un", "##believ", "##able", "!", "it", "##s", "[SEP]") == [
        "[CLS]", "unbelievable", "!", "its", "[SEP]",
    ]  # fmt: skip
    assert [mark_of(tokens) for tokens in (["▁a"], ["aĠ", "Ġa"], ["##", "##a"])] == ["▁", "Ġ", "##"]


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ("@@", "l' un@@ believ@@ able 猫@@ 在 </s> n@@ d . @@"),
        ("</w>", "l'</w> un believ able</w> 猫 在</w> </s> n d</w> .</w> @@</w>"),
        ("￭", "l' un￭ believ ￭able 猫 ￭在 </s> n￭ ￭d . @@"),
    ],
)
def test_marks_after_a_piece_are_read_as_those_before_one(mark, text):
    tokens = tuple(text.split())
    same = ("▁l'", "▁un", "believ", "able", "▁猫", "在", "</s>", "▁n", "d", "▁.", "▁@@")
    assert mark_of(tokens) == mark
    assert known_mark({"word_mark": mark}, []) == mark
    assert grouped(tokens) == grouped(same)
    assert spaced(tokens) == spaced(same)
    assert spelled(*tokens) == ["l'", "unbelievable", "猫", "在", "</s>", "nd", ".", "@@"]


def test_a_joiner_joins_punctuation_that_is_a_word_of_its_own():
    assert spelled("l￭", "'￭", "homme", "dort", "￭.", "￭") == ["l'homme", "dort", ".", "￭"]
    assert spelled("3￭", ",￭", "5", "￭!", mark="￭") == ["3,5", "!"]
    assert spelled("a", "b", mark="@@") == ["a", "b"]
    assert spelled("a", "b", mark="</w>") == ["ab"]  # no word ends


def test_the_mark_of_a_text_without_a_space_is_that_of_its_model():
    """Byte-level BPE marks no first word, so labels of one word have no mark."""
    known = {"word_mark": "▁"}
    assert known_mark(known, ["s", "p", "a"]) == "▁"
    assert known_mark({"word_mark": ""}, ["▁a", "b"]) == ""
    assert known_mark(known | {"unit": "words"}, ["spaces"]) == ""
    for odd in (None, 1, ["▁"], "x"):
        assert [known_mark({"word_mark": odd}, ["a", b]) for b in ("▁b", "b")] == ["▁", ""]
    assert [word.label for word in grouped(tuple("spaces"), "▁")] == ["spaces"]


def test_bytes_are_of_a_vocabulary_that_marks_words():
    assert [word.label for word in grouped(("<0xD9>", "<0x85>", "<0xD8><0xB1>"))] == ["مر"]
    assert [word.label for word in grouped(("<0xF0><0x9F>", "<0x99><0x82>"))] == ["🙂"]
    assert mark_of(["<0xD9>x", "<bos>"]) == ""


def test_without_marks_every_token_is_a_word():
    assert grouped(("7", "'", "##", "甲")) == tuple(
        Word(token, position, position + 1) for position, token in enumerate(("7", "'", "##", "甲"))
    )
    assert grouped(()) == ()


def test_specials_are_distinguished_from_text():
    assert all(map(is_special, ("<bos>", "</s>", "<pad>", "[CLS]", "<|endoftext|>")))
    assert not any(map(is_special, ("<unk>", "[UNK]", "<0xE4>", "a", "<", "[1]", "▁<s>")))
    assert not any(map(is_special, ("<b>", "</b>", "[A]", "<|x|>")))
    assert spelled("▁ma", "<b>", "x", "▁[A]") == ["ma<b>x", "[A]"]


def test_bytes_are_distinguished_from_text():
    assert [byte_of(token) for token in ("<0xE4>", "<0x00>", "<0xe4>", "<0xE4", "a")] == [
        0xE4, 0, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "token", [".", "▁.", "Ġ,", "##!", "«»", "##", "。", ".@@", ".</w>", "￭.", "￭-￭"]
)
def test_punctuation_is_told_without_its_mark_of_a_word(token):
    assert is_punctuation(token)


@pytest.mark.parametrize("token", ["", "▁", "a", "▁a.", "$", "+", "##a", "! a"])
def test_what_is_no_punctuation_alone(token):
    assert not is_punctuation(token)
