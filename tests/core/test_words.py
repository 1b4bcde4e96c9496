from dataclasses import replace

import numpy as np
import pytest

from explorer.core.mask_reasons import EDITED, LATER, PADDING, UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import Word, byte_of, grouped, is_special, mark_of
from explorer.core.words import has_words, merge, source_words, target_words
from tests.support.example_traces import example_trace, pieces_trace


def spelt(*tokens: str, mark: str | None = None) -> list[str]:
    words = grouped(tokens, mark)
    places = [place for word in words for place in range(word.start, word.stop)]
    assert places == list(range(len(tokens)))  # every token in one word, in order
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
    ],
)
def test_pieces_of_a_word_belong_together_and_punctuation_stands_alone(tokens, words):
    assert spelt(*tokens) == words


def test_bytes_are_the_character_they_spell():
    cat = ("<0xE7>", "<0x8C>", "<0xAB>")
    assert spelt("▁caf", "<0xC3>", "<0xA9>", "s") == ["cafés"]
    assert spelt("▁", *cat, *cat, "<0xE3>", "<0x80>", "<0x82>") == ["猫", "猫", "。"]
    assert spelt("▁a", "<0xE7>", "<0x8C>", "▁b") == ["a<0xE7><0x8C>", "b"]  # half a character


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
def test_what_is_not_seen_by_itself_belongs_to_its_neighbour(tokens, words):
    assert spelt(*tokens) == words


def test_where_no_spaces_are_written_each_piece_is_a_word():
    assert spelt("▁", "我", "喜欢", "red", "猫", "。") == ["我", "喜欢", "red", "猫", "。"]
    assert spelt("▁안", "녕", "▁하") == ["안녕", "하"]  # Korean has spaces


def test_other_vocabularies_marks_are_understood():
    assert spelt("<s>", "The", "Ġblack", "Ġcaf", "Ã", "©", "s", ".", "</s>") == [
        "<s>", "The", "black", "cafés", ".", "</s>",
    ]  # fmt: skip
    assert spelt("[CLS]", "un", "##believ", "##able", "!", "it", "##s", "[SEP]") == [
        "[CLS]", "unbelievable", "!", "its", "[SEP]",
    ]  # fmt: skip
    assert [mark_of(tokens) for tokens in (["▁a"], ["aĠ", "Ġa"], ["##", "##a"])] == ["▁", "Ġ", "##"]


def test_without_marks_every_token_is_a_word():
    assert grouped(("7", "'", "##", "甲")) == tuple(
        Word(token, place, place + 1) for place, token in enumerate(("7", "'", "##", "甲"))
    )
    assert not has_words(example_trace())
    assert grouped(()) == ()


def test_specials_are_told_from_text():
    assert all(map(is_special, ("<bos>", "</s>", "<pad>", "[CLS]", "<|endoftext|>")))
    assert not any(map(is_special, ("<unk>", "[UNK]", "<0xE4>", "a", "<", "[1]", "▁<s>")))
    assert not any(map(is_special, ("<b>", "</b>", "[A]", "<|x|>")))
    assert spelt("▁ma", "<b>", "x", "▁[A]") == ["ma<b>x", "[A]"]


def test_bytes_are_told_from_text():
    assert [byte_of(token) for token in ("<0xE4>", "<0x00>", "<0xe4>", "<0xE4", "a")] == [
        0xE4, 0, None, None, None,
    ]  # fmt: skip


def test_keys_are_summed_and_queries_averaged():
    merged = merge(pieces_trace())
    assert merged.source_tokens == ("The", "cat", ".", "<eos>", "<pad>")
    assert merged.target_tokens == ("<bos>", "Le", "chat")
    expected = [  # by hand: rows 1 and 2, rows 3 and 4 averaged, columns 1 and 2 added
        [0.5, 0.375, 0.0625, 0.0625, 0],
        [0.5, 0.375, 0.0625, 0.0625, 0],
        [0.0625, 0.8125, 0.0625, 0.0625, 0],
    ]
    assert np.array_equal(merged.attention("cross")[0, 0], np.array(expected, dtype=np.float32))
    assert np.allclose(merged.attention("decoder").sum(-1), 1)
    third = (1 / 2 + 1 / 3) / 2
    assert merged.attention("decoder")[0, 0, 1] == pytest.approx([third, 1 - third, 0])


def test_a_cell_is_closed_where_all_its_pieces_are_and_says_why():
    merged = merge(pieces_trace())
    assert merged.closed("cross")[:, -1].tolist() == [PADDING] * 3
    assert not merged.closed("cross")[:, :-1].any()
    expected = [
        [UNMASKED, LATER, LATER],
        [UNMASKED, UNMASKED, LATER],
        [UNMASKED, UNMASKED, UNMASKED],
    ]
    assert merged.closed("decoder").tolist() == expected


def test_masks_of_single_heads_merge_too_and_later_wins_over_edited():
    trace = pieces_trace()
    closed = np.zeros((1, 2, 5, 6), dtype=np.uint8)
    closed[..., 5] = PADDING
    closed[0, 1, 3:, 1:3] = EDITED
    closed[0, 1, 4, 1] = LATER
    closed[0, 0, 3:, 1] = EDITED  # a part of a cell only
    merged = merge(replace(trace, arrays={**trace.arrays, "cross.closed": closed}, digest=""))
    assert merged.closed("cross", 0, 1)[2].tolist() == [
        UNMASKED,
        LATER,
        UNMASKED,
        UNMASKED,
        PADDING,
    ]
    assert merged.closed("cross", 0, 0)[2].tolist() == [
        UNMASKED,
        UNMASKED,
        UNMASKED,
        UNMASKED,
        PADDING,
    ]


def test_a_word_predicts_the_whole_next_word_by_what_its_last_piece_predicts():
    merged = merge(pieces_trace())
    assert merged.predicted_tokens == ("Le", "chat", "<eos>")
    steps = merged.steps()
    assert list(steps["step"]) == [1, 1, 2, 2, 3, 3]
    assert list(steps["token"]) == ["▁L", "▁x", "▁ch", "▁x", "<eos>", "▁x"]
    assert list(steps["id"]) == [0, 1, 4, 5, 8, 9]
    assert merged.facts["unit"] == "words"
    assert merged.losses == pytest.approx([-np.log(0.75)] * 3)
    assert merged.gold is not None
    assert merged.gold.tolist() == [
        [True, False, False, False, False],
        [True, True, False, False, False],
        [False, True, False, False, False],
    ]


def test_a_word_cut_off_at_the_longest_output_goes_on_with_its_rest():
    trace = replace(pieces_trace(), predicted_tokens=("▁L", "e", "▁ch", "at", "on"), digest="")
    merged = merge(trace)
    assert merged.target_tokens == ("<bos>", "Le", "chat")
    assert merged.predicted_tokens == ("Le", "chaton", "on")


def test_guesses_at_another_text_stay_each_row_s_own():
    trace = replace(pieces_trace(), predicted_tokens=("▁Un", "e", "▁ch", "ien", "."), digest="")
    assert merge(trace).predicted_tokens == ("Un", "ch", ".")
    assert merge(replace(trace, predicted_tokens=(), digest="")).predicted_tokens == ()


def test_a_trace_with_one_site_and_no_target_merges():
    even = np.full((1, 1, 3, 3), 1 / 3, dtype=np.float32)
    merged = merge(Trace.from_arrays(["Ġa", "b", "Ġc"], encoder=even))
    assert merged.source_tokens == ("ab", "c")
    assert merged.attention("encoder")[0, 0] == pytest.approx(np.array([[2 / 3, 1 / 3]] * 2))
    decoder = np.tril(np.ones((1, 1, 3, 3))) / np.arange(1, 4)[:, None]
    assert merge(Trace.from_arrays([], ["Ġa", "b", "Ġc"], decoder=decoder)).target_tokens == (
        "ab",
        "c",
    )


def test_integrity_holds_and_tells_of_tampering():
    trace = pieces_trace()
    checks = merge(trace).integrity().set_index("check")
    assert checks["ok"].all()
    assert checks.loc["cached_equals_full", "error"] == 3e-7
    arrays = dict(trace.arrays)
    arrays["cross.attention"] = np.ascontiguousarray(arrays["cross.attention"][..., ::-1])
    checks = merge(replace(trace, arrays=arrays)).integrity().set_index("check")
    assert not checks.loc["unchanged_since_capture", "ok"]
    assert not checks.loc["closed_cells_are_zero", "ok"]


def test_words_say_which_pieces_they_are_made_of():
    trace = pieces_trace()
    assert [(word.start, word.stop) for word in target_words(trace)] == [(0, 1), (1, 3), (3, 5)]
    assert source_words(trace)[1] == Word("cat", 1, 3)
    assert has_words(trace)
    assert not has_words(merge(trace))  # and merging again changes nothing
    assert (
        merge(merge(trace)).attention("cross").tolist() == merge(trace).attention("cross").tolist()
    )
