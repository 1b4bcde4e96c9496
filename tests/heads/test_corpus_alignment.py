from pathlib import Path

import pytest

from explorer.core.alignment import align, align_words
from explorer.core.errors import AlignmentError, PairsError
from explorer.data.parallel_corpus import Pair, read_rows
from explorer.heads.corpus_alignment import (
    AlignmentMethod,
    align_pairs,
    all_methods,
    error_rate_table,
)
from explorer.model.explorable import ExplorableModel

PAIRS = (Pair("1 2 3", "3 2 1"), Pair("2 甲", "甲 2"), Pair("1", "1"))


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "x.gold"
    path.write_text("0-2 1-1 2-0\n0-1 1p0\n0-0\n", "utf-8")
    return path


def test_every_head_and_mean_has_an_error_rate_and_the_best_is_first(
    explorable: ExplorableModel, gold: Path
) -> None:
    methods = all_methods(explorable)
    assert len(methods) == 2 * (3 + 1) * 2  # layers, heads and mean, timings
    aligned = align_pairs(explorable, PAIRS, methods, gold_path=gold)
    rates = [one.error_rate for one in aligned]
    assert rates == sorted(rates)
    assert {one.method for one in aligned} == set(methods)
    best = aligned[0]
    for pair, links in zip(PAIRS, best.links, strict=True):
        trace = explorable.trace(pair.source, target=pair.target)
        method = best.method
        assert links == align(trace, method.layer, method.head, method.timing)
        assert {target for _, target in links} == set(range(len(pair.target.split())))
    assert best.text().count("\n") == 3
    assert error_rate_table(aligned).splitlines()[1].split()[-1] == f"{best.error_rate:.1%}"


def test_links_are_between_words_on_request(explorable: ExplorableModel) -> None:
    method = AlignmentMethod(0, None, "input")
    (aligned,) = align_pairs(explorable, PAIRS[:1], [method], in_words=True)
    trace = explorable.trace("1 2 3", target="3 2 1")
    assert aligned.links == (align_words(trace, 0, None, "input"),)
    assert aligned.error_rate is None


def test_an_error_names_its_row(explorable: ExplorableModel, gold: Path, tmp_path: Path) -> None:
    methods = [AlignmentMethod(0, 0, "input")]
    with pytest.raises(AlignmentError, match=r"Row 2 .*“9” is not a symbol"):
        align_pairs(explorable, (PAIRS[0], Pair("9", "1")), methods)
    with pytest.raises(AlignmentError, match="3 lines of links for 2 pairs"):
        align_pairs(explorable, PAIRS[:2], methods, gold_path=gold)
    with pytest.raises(AlignmentError, match="link 0-2, but that pair has 1 source"):
        align_pairs(explorable, PAIRS[::-1], methods, gold_path=gold)
    path = tmp_path / "y.tsv"
    path.write_text("1\t1\n2\t \n", "utf-8")
    with pytest.raises(PairsError, match="Row 2"):
        read_rows(path)
