from dataclasses import replace

import numpy as np
import pytest

from explorer.core.alignment import align_words
from explorer.core.mask_reasons import EDITED, LATER, PADDING, UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import Word
from explorer.core.words import (
    content,
    has_words,
    marks_words,
    merge,
    source_words,
    target_words,
    word_content,
)
from tests.support.example_traces import example_trace, pieces_trace


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


def test_a_cell_is_masked_where_all_its_pieces_are_with_their_reason():
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
    mask_codes = np.zeros((1, 2, 5, 6), dtype=np.uint8)
    mask_codes[..., 5] = PADDING
    mask_codes[0, 1, 3:, 1:3] = EDITED
    mask_codes[0, 1, 4, 1] = LATER
    mask_codes[0, 0, 3:, 1] = EDITED  # only some pieces of the cell
    merged = merge(replace(trace, arrays={**trace.arrays, "cross.closed": mask_codes}, digest=""))
    free = UNMASKED
    assert merged.closed("cross", 0, 1)[2].tolist() == [free, LATER, free, free, PADDING]
    assert merged.closed("cross", 0, 0)[2].tolist() == [free, free, free, free, PADDING]


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


def test_a_word_cut_off_at_the_last_row_predicts_its_rest():
    trace = replace(pieces_trace(), predicted_tokens=("▁L", "e", "▁ch", "at", "on"), digest="")
    merged = merge(trace)
    assert merged.target_tokens == ("<bos>", "Le", "chat")
    assert merged.predicted_tokens == ("Le", "chaton", "on")


def test_predictions_of_another_text_stay_with_their_rows():
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


def test_integrity_holds_and_detects_changes():
    trace = pieces_trace()
    checks = merge(trace).integrity().set_index("check")
    assert checks["ok"].all()
    assert checks.loc["cached_equals_full", "error"] == 3e-7
    arrays = dict(trace.arrays)
    arrays["cross.attention"] = np.ascontiguousarray(arrays["cross.attention"][..., ::-1])
    checks = merge(replace(trace, arrays=arrays)).integrity().set_index("check")
    assert not checks.loc["unchanged_since_capture", "ok"]
    assert not checks.loc["masked_cells_are_zero", "ok"]


def test_words_know_their_pieces():
    trace = pieces_trace()
    assert [(word.start, word.stop) for word in target_words(trace)] == [(0, 1), (1, 3), (3, 5)]
    assert source_words(trace)[1] == Word("cat", 1, 3)
    assert has_words(trace)
    assert not has_words(merge(trace))  # and merging again changes nothing
    assert (
        merge(merge(trace)).attention("cross").tolist() == merge(trace).attention("cross").tolist()
    )


def test_a_trace_without_marks_has_no_words():
    assert not has_words(example_trace())
    assert not marks_words(example_trace())
    assert marks_words(pieces_trace())


def test_arrays_of_fairseq_merge_and_align_by_words():
    """The same weights with "▁" and with "@@" are the same words and links."""
    cross = np.full((1, 1, 3, 4), 0.1, dtype=np.float32)
    cross[0, 0, [0, 1, 2], [0, 1, 2]] = 0.7
    texts = [
        (["the", "week@@", "nd", "</s>"], ["das", "woch@@", "enende"]),
        (["▁the", "▁week", "nd", "</s>"], ["▁das", "▁woch", "enende"]),
    ]
    for source, target in texts:
        trace = Trace.from_arrays(source, target, cross=cross)
        merged = merge(trace)
        assert merged.source_tokens == ("the", "weeknd", "</s>")
        assert merged.target_tokens == ("das", "wochenende")
        assert merged.attention("cross")[0, 0, 1] == pytest.approx([0.1, 0.8, 0.1])  # 0.1 + 0.7
        assert align_words(trace, 0, 0, "input") == {(1, 0)}


def test_a_text_of_one_word_is_merged_as_its_model_marks_words():
    plain = replace(pieces_trace(), source_tokens=("s", "p", "a", "t", "<eos>", "<pad>"), digest="")
    plain = replace(plain, target_tokens=("<bos>", "L", "e", "c", "h"), predicted_tokens=())
    assert not has_words(plain)  # nothing says that these are pieces
    known = replace(plain, facts={"word_mark": "▁"}, digest="")
    saved = Trace.from_bytes(known.to_bytes())
    for trace in (known, saved):
        assert [word.label for word in source_words(trace)] == ["spat", "<eos>", "<pad>"]
        assert [word.label for word in target_words(trace)] == ["<bos>", "Lech"]
    merged = merge(saved)
    assert merged.attention("cross")[0, 0, 0].tolist() == [0.9375, 0.0625, 0]  # .5+.25+.125+.0625
    assert not has_words(merged)
    symbols = replace(pieces_trace(), facts={"word_mark": ""}, digest="")
    assert not has_words(symbols)  # "▁ca" is a symbol of its own there


def test_specials_are_no_content():
    source, outputs = content(pieces_trace())
    assert source.tolist() == [True] * 4 + [False] * 2
    assert outputs.tolist() == [True] * 4 + [False]


def test_a_word_that_was_cut_off_is_content_as_any_other():
    going_on = ("▁L", "e", "▁ch", "at", "on")
    source, outputs = word_content(replace(pieces_trace(), predicted_tokens=going_on, digest=""))
    assert source.tolist() == [True] * 3 + [False] * 2
    assert outputs.tolist() == [True] * 3
