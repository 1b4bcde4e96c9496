import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.core.alignment import (
    TIMINGS,
    Gold,
    align,
    align_words,
    aligned_keys,
    error_rate,
    links,
    parse_gold,
    pharaoh,
    refuse_foreign,
    without_ends,
)
from explorer.core.errors import AlignmentError
from explorer.core.words import merge
from tests.support.example_traces import example_trace, pieces_trace

WEIGHTS = np.array(  # <bos> a b c over x y <eos>; what it says is a b c <eos>
    [
        [0.2, 0.3, 0.5],
        [0.6, 0.3, 0.1],
        [0.4, 0.4, 0.2],
        [0.1, 0.2, 0.7],
    ]
)
SOURCE = np.array([True, True, False])
OUTPUTS = np.array([True, True, True, False])


def test_each_timing_reads_its_own_row():
    assert aligned_keys(WEIGHTS, SOURCE, OUTPUTS, "prediction").tolist() == [1, 0, 0, -1]
    assert aligned_keys(WEIGHTS, SOURCE, OUTPUTS, "input").tolist() == [0, 0, 1, -1]


def test_an_output_that_was_never_fed_in_has_no_row_of_its_own():
    cut = np.array([True] * 4)  # decoding stopped at the longest output
    assert aligned_keys(WEIGHTS, SOURCE, cut, "prediction").tolist() == [1, 0, 0, 1]
    assert aligned_keys(WEIGHTS, SOURCE, cut, "input").tolist() == [0, 0, 1, -1]


def test_specials_are_not_counted_and_nothing_links_to_nothing():
    source = np.array([False, True, True])
    outputs = np.array([True, False, True, True])
    assert links(WEIGHTS, source, outputs, "prediction") == {(1, 0), (0, 1), (1, 2)}
    assert links(WEIGHTS, np.zeros(3, dtype=bool), outputs, "prediction") == frozenset()
    with pytest.raises(AlignmentError, match="prediction, input"):
        links(WEIGHTS, source, outputs, "now")


def test_a_trace_is_aligned_in_pieces_and_in_words_by_a_head_or_the_mean():
    trace = pieces_trace()
    assert pharaoh(align(trace, 0, 0, "prediction")) == "0-0 0-1 0-2 1-3"
    assert pharaoh(align(trace, 0, 0, "input")) == "0-0 0-1 1-2 2-3"
    assert pharaoh(align(merge(trace), 0, 0, "input")) == "0-0 1-1"
    assert pharaoh(align_words(trace, 0, 0, "input")) == "0-0 1-1"
    assert pharaoh(align(trace, 0, None, "input")) == "0-0 0-1 0-2 0-3"  # head 1 decides


def test_a_word_is_linked_from_the_rows_that_predict_its_pieces():
    # By hand, on The, cat and ".": rows 0 and 1 predict "Le" (.75 .875 .1875), rows 2 and 3
    # "chat" (.75 1.25 0). The row of the word before, of rows 1 and 2, would say The (1 .75 .125).
    trace = pieces_trace()
    assert pharaoh(align_words(trace, 0, 0, "prediction")) == "1-0 1-1"
    with pytest.raises(AlignmentError, match="align_words"):
        align(merge(trace), 0, 0, "prediction")


def test_a_word_that_was_cut_off_is_linked_from_the_rows_there_are():
    # "chat" goes on: rows 2 and 3 predict "ch" and "at", row 4 "on", which is fed in nowhere.
    trace = replace(pieces_trace(), predicted_tokens=("▁L", "e", "▁ch", "at", "on"), digest="")
    assert pharaoh(align_words(trace, 0, 0, "prediction")) == "1-0 1-1 1-2"
    assert pharaoh(align_words(trace, 0, 0, "input")) == "0-0 1-1"
    unsaid = replace(pieces_trace(), predicted_tokens=(), digest="")
    assert pharaoh(align_words(unsaid, 0, 0, "prediction")) == "1-0 1-1"


def test_words_of_one_piece_are_linked_as_pieces():
    trace = example_trace()
    for timing in TIMINGS:
        assert align_words(trace, 1, 3, timing) == align(trace, 1, 3, timing)
    with pytest.raises(AlignmentError, match="prediction, input"):
        align_words(trace, 1, 3, "now")


@pytest.mark.parametrize(("layer", "head"), [(1, 0), (0, 2), (-1, None), (0, -1)])
def test_a_missing_head_is_named(layer, head):
    with pytest.raises(AlignmentError, match="1 layer of 2 heads"):
        align(pieces_trace(), layer, head)


def test_error_rate_is_och_and_ney_s():
    gold = Gold(frozenset({(0, 0), (1, 1)}), frozenset({(2, 2)}))
    assert gold.possible == {(0, 0), (1, 1), (2, 2)}
    assert error_rate([frozenset({(0, 0), (1, 1)})], [gold]) == 0
    assert error_rate([frozenset({(0, 0), (2, 2), (3, 3)})], [gold]) == pytest.approx(1 - 3 / 5)
    assert error_rate([frozenset()], [gold]) == 1
    found = [frozenset({(0, 0), (2, 2), (3, 3)}), frozenset({(5, 5)})]
    both = [gold, Gold(frozenset(), frozenset())]
    assert error_rate(found, both) == pytest.approx(1 - 3 / 6)  # counted over the corpus
    assert math.isnan(error_rate([frozenset()], both[1:]))
    with pytest.raises(AlignmentError, match="links of 2 sentences, but gold links of 1"):
        error_rate(found, [gold])


GOLD = Gold(frozenset({(0, 0)}), frozenset())


@pytest.mark.parametrize(
    ("found", "gold"),
    [
        (None, [GOLD]),
        ("ab", [GOLD, GOLD]),
        (np.ones((2, 2)), [GOLD, GOLD]),
        ([(0, 0)], [GOLD]),
        ([{(0, 0, 0)}], [GOLD]),
        ([{("a", "b")}], [GOLD]),
        ([{(0, -1)}], [GOLD]),
        ([{(0, 0)}], [(0, 0)]),
        ([{(0, 0)}], [{(0, 0)}]),
    ],
)
def test_what_are_no_links_is_refused_with_one_sentence(found, gold):
    with pytest.raises(AlignmentError, match=r"set of pairs \(source, target\)"):
        error_rate(found, gold)


def test_gold_links_are_sets_of_pairs():
    with pytest.raises(AlignmentError, match="set of pairs"):
        Gold([(0, 0)], frozenset())


@pytest.mark.parametrize(
    "text",
    [
        *("0-0\n0:1", "0-0\n1-", "0-0\n-1-2", "0-0\na-b", "0-0\n1-2-3"),
        *(f"0-0\n0-{'9' * 5000}", f"0-0\n{'9' * 5000}p0", f"0-0\n0-{10**12}"),
    ],
)
def test_a_malformed_link_is_named_with_its_line(text):
    with pytest.raises(AlignmentError, match="line 2 of “x”"):
        parse_gold(text, "x")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("0-0 1-1 2-2", "end_link"),  # of both end tokens
        ("0-0 1-1 2-1", "end_link"),
        ("0-0 1-1 3-1", "foreign_link"),
        ("1-1 2-2", "foreign_link"),  # which counts from 1
        ("1-1 2p2", "foreign_link"),
    ],
)
def test_a_link_of_the_end_token_is_told_apart_from_counting_from_one(line, key):
    (gold,) = parse_gold(line, "x")
    with pytest.raises(AlignmentError) as caught:
        refuse_foreign(gold, 2, 2, 1, "x")
    assert caught.value.key == key
    assert ("subtract 1" in str(caught.value)) == (key == "foreign_link")
    assert ("end token" in str(caught.value)) == (key == "end_link")


HARD = (frozenset({(0, 0), (2, 1), (1, 2)}), frozenset(), frozenset({(0, 0), (1, 1)}))
WRITTEN = {
    "Pharaoh": "0-0 2-1 1-2\n\n0-0 1-1\n",
    "Marian, OpenNMT": "a b . ||| 0-0 2-1 1-2\n\n||| ||| 0-0 1-1\n",
    "fairseq": "A-2\t0-0 1-1\nA-0\t0-0 2-1 1-2\nA-1\t\n",
    "Marian, soft": "0.9,0.1,0 0.2,0,0.8 1e-3,0.9,.1\n\n1,0 0,1\n",
    "fairseq, soft": "A-0\t0.9,0.1,0 0.2,0,0.8 0,0.9,0.1\nA-1\t\nA-2\t1,0 0.4,0.6\n",
    "OpenNMT, soft": "a b . ||| 0.9 0.1 0 ; 0.2 0 0.8 ; 0 0.9 0.1\n\na ||| 1 0 ; 0 1\n",
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_links_are_read_as_translators_write_them(kind):
    """Of soft alignments a target token, a row, is linked to the source token it weights most."""
    assert parse_gold(WRITTEN[kind], "x") == tuple(Gold(one, frozenset()) for one in HARD)


def test_a_soft_alignment_of_one_target_token():
    assert parse_gold("a ||| 0.1 0.7 0.2", "x")[0].sure == {(1, 0)}


@pytest.mark.parametrize(
    ("text", "key", "facts"),
    [
        ("0-0\nx ||| 0-0 1:1", "bad_link", {"line": 2, "column": 11, "got": "1:1"}),
        ("0.5,0.5 0.5,0.2,0.3", "bad_soft_row", {"line": 1, "row": 2, "expected": 2}),
        ("0.5,0.5\n0.5,0.5 1.5,0", "bad_soft_row", {"line": 2, "row": 2, "got": "1.5,0"}),
        ("0.5 0.5 ; x 1", "bad_soft_row", {"row": 2, "got": "x 1"}),
        ("A-0\t0-0\nA-2\t0-0", "bad_sentence_ids", {"last": 1}),
        ("A-0\t0-0\nA-0\t0-0", "bad_sentence_ids", {"last": 1}),
        ("A-0\t0-0\n0-0", "bad_link", {"line": 1, "got": "A-0"}),
    ],
)
def test_a_broken_alignment_is_named_with_its_place(text, key, facts):
    with pytest.raises(AlignmentError) as caught:
        parse_gold(text, "x")
    assert caught.value.key == key
    assert facts.items() <= caught.value.facts.items()


def test_links_of_end_tokens_are_left_out_where_every_sentence_has_one():
    gold, sizes = parse_gold("0-0 1-1 2-2\n\n1p0 1-1", "x"), [(2, 2), (3, 3), (1, 1)]
    assert [pharaoh(one.possible) for one in without_ends(gold, sizes)] == ["0-0 1-1", "", ""]
    for text in ("0-0 1-1 2-2\n0-0", "1-1 2-2\n1-1"):  # another segmentation; counted from 1
        given = parse_gold(text, "x")
        assert without_ends(given, [(2, 2), (1, 1)]) == given


@pytest.mark.parametrize("way", [align, align_words])
def test_a_matrix_is_no_timing(way):
    with pytest.raises(AlignmentError, match="prediction, input"):
        way(example_trace(), 0, 0, np.ones((2, 2)))
