from pathlib import Path

import numpy as np
import pytest

from explorer.core.alignment import Gold, align, align_words, error_rate
from explorer.core.errors import AlignmentError, PairsError
from explorer.core.word_segmentation import spaced
from explorer.data.parallel_corpus import Pair, read_rows
from explorer.heads.alignment.aer_by_head import align_pairs, all_methods, error_rate_table
from explorer.heads.alignment.aer_report import DIAGONAL, AlignmentMethod
from explorer.heads.alignment.gold_file import AlignmentFile, GivenTokens, GoldFile
from explorer.model.explorable import ExplorableModel, load

PAIRS = (Pair("1 2 3", "3 2 1"), Pair("2 甲", "甲 2"), Pair("1", "1"))
ROOT = Path(__file__).parents[3]


@pytest.fixture
def gold(tmp_path: Path) -> GoldFile:
    path = tmp_path / "x.gold"
    path.write_text("0-2 1-1 2-0\n0-1 1p0\n0-0\n", "utf-8")
    return GoldFile.of_file(path)


@pytest.fixture(scope="module")
def translator() -> ExplorableModel:
    return load(ROOT / "checkpoints" / "english-french.safetensors")


def test_every_head_and_mean_has_an_error_rate_and_the_best_is_first(
    explorable: ExplorableModel, gold: GoldFile
) -> None:
    methods = all_methods(explorable)
    assert len(methods) == 2 * (3 + 1) * 2  # layers, heads and mean, timings
    aligned = align_pairs(explorable, PAIRS, methods, gold=gold).methods
    rates = [one.error_rate.value for one in aligned if one.error_rate]
    assert rates == sorted(rates)
    assert {one.method for one in aligned} == {*methods, DIAGONAL}
    for one in aligned:
        assert one.error_rate is not None
        assert one.error_rate.value == pytest.approx(error_rate(one.links, gold.links))
        assert one.error_rate.low <= one.error_rate.value <= one.error_rate.high
        if one.method == DIAGONAL:
            continue
        for pair, links in zip(PAIRS, one.links, strict=True):
            trace = explorable.trace(pair.source, target=pair.target)
            method = one.method
            assert links == align(trace, method.layer, method.head, method.timing)
            assert {target for _, target in links} == set(range(len(pair.target.split())))
    assert aligned[0].text().count("\n") == 3


def test_the_diagonal_is_what_a_head_has_to_beat(explorable: ExplorableModel) -> None:
    diagonal = frozenset({(0, 0), (1, 1), (2, 2)})
    gold = GoldFile((Gold(diagonal, diagonal),), "x")
    found = align_pairs(explorable, PAIRS[:1], [AlignmentMethod(0, 0, "input")], gold=gold)
    assert found.methods[0].method == DIAGONAL
    assert found.methods[0].links == (diagonal,)
    table = error_rate_table(found)
    assert table.splitlines()[1].split() == ["diagonal", "0.0%", "–", "0.0%", "–", "–"]
    assert "No head is better than the diagonal" in table


def test_error_rates_are_given_by_length(translator: ExplorableModel) -> None:
    """Each class alone has the rate of its pairs."""
    short, long = (
        Pair("I sleep .", "Je dors ."),
        Pair("very " * 11 + "good .", "très " * 11 + "bon ."),
    )
    first = Gold(frozenset({(0, 0)}), frozenset())
    gold = GoldFile((first, first), "x")
    method = AlignmentMethod(1, 3, "input")
    both = align_pairs(translator, (short, long), [method], tokens="whitespace", gold=gold)
    for number, pair in enumerate((short, long)):
        one = GoldFile((first,), "x")
        alone = align_pairs(translator, (pair,), [method], tokens="whitespace", gold=one)
        for own, all_of_it in zip(alone.methods, both.methods, strict=True):
            if own.method == all_of_it.method:
                assert own.error_rate.value == all_of_it.error_rate.by_length[number]
    assert np.isnan(both.methods[0].error_rate.by_length[2])


def test_links_count_what_spaces_separate(translator: ExplorableModel) -> None:
    """The app shows "don't" as one word, most gold files have "do" and "n't"."""
    pair = Pair("I do n't like Mr. Brown 's 15 cats .", "Je n' aime pas les 15 chats de M. Brown .")
    (found,) = align_pairs(
        translator, [pair], [AlignmentMethod(1, 3, "input")], tokens="whitespace"
    ).methods
    assert {target for _, target in found.links[0]} == set(range(len(pair.target.split())))
    assert max(source for source, _ in found.links[0]) < len(pair.source.split())
    trace = translator.trace(pair.source, target=pair.target)
    assert found.links[0] == align_words(trace, 1, 3, "input", spaced)


def test_given_tokens_between_spaces_are_those_of_whitespace(translator: ExplorableModel) -> None:
    pairs = (
        Pair("I do n't like Mr. Brown 's cats .", "Je n' aime pas les chats de M. Brown ."),
        Pair("He said : “ 15 ” …", "Il a dit : « 15 » …"),
    )
    sides = ((tuple(pair.source.split()), tuple(pair.target.split())) for pair in pairs)
    given = GivenTokens(tuple(sides), "x")
    gold = GoldFile((Gold(frozenset({(2, 3)}), frozenset()), Gold(frozenset(), frozenset())), "x")
    methods = all_methods(translator)
    found = align_pairs(translator, pairs, methods, tokens=given, gold=gold)
    assert repr(found) == repr(
        align_pairs(translator, pairs, methods, tokens="whitespace", gold=gold)
    )  # repr, because one NaN is not another


def test_tokens_that_a_text_does_not_show_are_linked(translator: ExplorableModel) -> None:
    """Clitics and punctuation apart, as gold files count, of texts as the model reads them."""
    pair = Pair("I don't like it.", "Je n'aime pas ça.")
    tokens = (["I", "do", "n't", "like", "it", "."], ["Je", "n'", "aime", "pas", "ça", "."])
    given = GivenTokens((tuple(map(tuple, tokens)),), "x")
    methods = [AlignmentMethod(1, 3, "input")]
    (found,) = align_pairs(translator, [pair], methods, tokens=given).methods
    assert {target for _, target in found.links[0]} == set(range(6))
    foreign = GoldFile((Gold(frozenset({(0, 6)}), frozenset()),), "x")
    with pytest.raises(AlignmentError, match="6 source and 6 target tokens"):
        align_pairs(translator, [pair], methods, tokens=given, gold=foreign)
    with pytest.raises(AlignmentError, match="tokens of 1 row for 2 pairs"):
        align_pairs(translator, [pair, pair], methods, tokens=given)
    other = GivenTokens((tuple(map(tuple, (["I", "do"], tokens[1]))),), "x")
    with pytest.raises(AlignmentError, match="Row 1 of “x”: the model reads “n'tlikeit"):
        align_pairs(translator, [pair], methods, tokens=other)


def test_texts_whose_spaces_the_pieces_lose_are_refused(translator: ExplorableModel) -> None:
    pair = Pair("one▁two three", "un deux")  # the mark of a space, as a letter
    with pytest.raises(AlignmentError, match="Row 1 has a text of 2 tokens"):
        align_pairs(translator, [pair], [AlignmentMethod(1, 3, "input")], tokens="whitespace")


def test_pairs_that_are_too_long_are_skipped_and_counted(
    explorable: ExplorableModel, gold: GoldFile
) -> None:
    long = Pair(" ".join("1" * 11), "1")
    pairs = (PAIRS[0], long, PAIRS[2])
    method = AlignmentMethod(0, 0, "input")
    found = align_pairs(explorable, pairs, [method], gold=gold)
    assert found.skipped == (2,)
    assert all(one.links[1] == frozenset() for one in found.methods)
    kept = GoldFile((gold.links[0], gold.links[2]), "x")
    alone = align_pairs(explorable, (PAIRS[0], PAIRS[2]), [method], gold=kept)
    assert [repr(one.error_rate) for one in found.methods] == [
        repr(one.error_rate) for one in alone.methods
    ]  # repr, because one NaN is not another
    with pytest.raises(AlignmentError, match=r"All pairs \(1\) are too long"):
        align_pairs(explorable, [long], [method], gold=GoldFile(gold.links[:1], "x"))


def test_a_pair_without_links_is_aligned_and_not_counted(
    explorable: ExplorableModel, gold: GoldFile
) -> None:
    nothing = Gold(frozenset(), frozenset())
    some = GoldFile((gold.links[0], nothing, gold.links[2]), "x")
    method = AlignmentMethod(0, 0, "input")
    found = align_pairs(explorable, PAIRS, [method], gold=some)
    assert found.unlinked == (2,)
    assert found.report("x", "pieces").unlinked == 1
    assert all(one.links[1] for one in found.methods)
    kept = GoldFile((gold.links[0], gold.links[2]), "x")
    alone = align_pairs(explorable, (PAIRS[0], PAIRS[2]), [method], gold=kept)
    assert repr([one.error_rate for one in found.methods]) == repr(
        [one.error_rate for one in alone.methods]  # NaN for lengths that no pair has
    )
    with pytest.raises(AlignmentError, match="has links in “x”"):
        align_pairs(explorable, PAIRS, [method], gold=GoldFile((nothing,) * 3, "x"))


def test_the_first_row_that_counts_from_one_is_named(explorable: ExplorableModel) -> None:
    """Although the shorter pair below it is decoded first."""
    pairs = (Pair("1 2 3", "3 2 1"), Pair("1", "1"))
    links = (Gold(frozenset({(1, 1), (3, 3)}), frozenset()), Gold(frozenset({(1, 1)}), frozenset()))
    methods = [AlignmentMethod(0, 0, "input")]
    with pytest.raises(AlignmentError, match=r"Line 1 of “x” has the link 3-3.*subtract 1"):
        align_pairs(explorable, pairs, methods, tokens="whitespace", gold=GoldFile(links, "x"))


def test_links_of_words_are_not_compared_with_pieces(translator: ExplorableModel) -> None:
    pair = Pair("The cat is sleeping peacefully.", "Le chat dort paisiblement.")
    methods = [AlignmentMethod(0, 0, "input")]
    words = GoldFile((Gold(frozenset({(0, 0), (4, 3)}), frozenset()),), "x")
    with pytest.raises(AlignmentError, match="the links count words, not pieces"):
        align_pairs(translator, [pair], methods, tokens="pieces", gold=words)
    pieces = GoldFile((Gold(frozenset({(0, 0), (5, 4)}), frozenset()),), "x")
    assert align_pairs(translator, [pair], methods, tokens="pieces", gold=pieces).unlinked == ()


def test_rows_whose_words_are_not_what_spaces_separate_are_named(
    translator: ExplorableModel,
) -> None:
    pairs = [Pair("We see a cat", "Nous voyons un chat"), Pair("I'm here.", "Je suis ici.")]
    methods = [AlignmentMethod(0, 0, "input")]
    gold = GoldFile((Gold(frozenset({(0, 0)}), frozenset()),) * 2, "x")
    for tokens, rows in (("words", (2,)), ("whitespace", ())):
        found = align_pairs(translator, pairs, methods, tokens=tokens, gold=gold)
        assert found.other_words == rows
    assert align_pairs(translator, pairs, methods, tokens="words").other_words == ()


def test_gold_links_can_be_a_column(tmp_path: Path, gold: GoldFile) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("en\tfr\tlinks\na\tb\t0-2 1-1 2-0\na\tb\t0-1 1p0\na\tb\t0-0\n", "utf-8")
    columns = ("en", "fr", "links")
    assert AlignmentFile.read(path, columns).gold.links == gold.links
    with pytest.raises(AlignmentError, match=r"[Ll]ine 1"):
        AlignmentFile.read(path, ("1", "2", "3"))  # the heading is no link
    with pytest.raises(PairsError, match="no column"):
        AlignmentFile.read(path, ("en", "fr", "gold"))


def test_links_are_between_words_on_request(explorable: ExplorableModel) -> None:
    method = AlignmentMethod(0, None, "input")
    (aligned,) = align_pairs(explorable, PAIRS[:1], [method], tokens="words").methods
    trace = explorable.trace("1 2 3", target="3 2 1")
    assert aligned.links == (align_words(trace, 0, None, "input"),)
    assert aligned.error_rate is None


def test_an_error_names_its_row(
    explorable: ExplorableModel, gold: GoldFile, tmp_path: Path
) -> None:
    methods = [AlignmentMethod(0, 0, "input")]
    with pytest.raises(AlignmentError, match=r"Row 2 .*“9” is not a symbol"):
        align_pairs(explorable, (PAIRS[0], Pair("9", "1")), methods)
    with pytest.raises(AlignmentError, match="3 lines of links for 2 pairs"):
        align_pairs(explorable, PAIRS[:2], methods, gold=gold)
    with pytest.raises(AlignmentError, match="link 0-2, but that pair has 1 source"):
        align_pairs(explorable, PAIRS[::-1], methods, gold=gold)
    path = tmp_path / "y.tsv"
    path.write_text("1\t1\n2\t \n", "utf-8")
    with pytest.raises(PairsError, match="Row 2"):
        read_rows(path)
