import re
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.core.alignment import align, align_words
from explorer.core.errors import AlignmentError, PairsError
from explorer.data.parallel_corpus import Pair, read_rows
from explorer.heads.corpus_alignment import Reading, align_pairs, readings, report
from explorer.model.checkpoint import save_checkpoint
from explorer.model.explorable import ExplorableModel

PAIRS = (Pair("1 2 3", "3 2 1"), Pair("2 甲", "甲 2"), Pair("1", "1"))


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "x.gold"
    path.write_text("0-2 1-1 2-0\n0-1 1p0\n0-0\n", "utf-8")
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "x.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS), "utf-8")
    return path


def test_every_head_and_every_mean_is_judged_and_the_best_comes_first(
    explorable: ExplorableModel, gold: Path
) -> None:
    ways = readings(explorable)
    assert len(ways) == 2 * (3 + 1) * 2  # layers, heads and mean, timings
    aligned = align_pairs(explorable, PAIRS, ways, gold_path=gold)
    rates = [one.error_rate for one in aligned]
    assert rates == sorted(rates)
    assert {one.reading for one in aligned} == set(ways)
    best = aligned[0]
    for pair, links in zip(PAIRS, best.links, strict=True):
        trace = explorable.trace(pair.source, target=pair.target)
        reading = best.reading
        assert links == align(trace, reading.layer, reading.head, reading.timing)
        assert {target for _, target in links} == set(range(len(pair.target.split())))
    assert best.text().count("\n") == 3
    assert report(aligned).splitlines()[1].split()[-1] == f"{best.error_rate:.1%}"


def test_words_are_linked_as_words(explorable: ExplorableModel) -> None:
    way = Reading(0, None, "input")
    (aligned,) = align_pairs(explorable, PAIRS[:1], [way], in_words=True)
    trace = explorable.trace("1 2 3", target="3 2 1")
    assert aligned.links == (align_words(trace, 0, None, "input"),)
    assert aligned.error_rate is None


def test_what_cannot_be_aligned_is_said_with_its_row(
    explorable: ExplorableModel, gold: Path, tmp_path: Path
) -> None:
    ways = [Reading(0, 0, "input")]
    with pytest.raises(AlignmentError, match=r"Row 2 .*“9” is not a symbol"):
        align_pairs(explorable, (PAIRS[0], Pair("9", "1")), ways)
    with pytest.raises(AlignmentError, match="3 lines of links for 2 pairs"):
        align_pairs(explorable, PAIRS[:2], ways, gold_path=gold)
    with pytest.raises(AlignmentError, match="link 0-2, but that pair has 1 source"):
        align_pairs(explorable, PAIRS[::-1], ways, gold_path=gold)
    path = tmp_path / "y.tsv"
    path.write_text("1\t1\n2\t \n", "utf-8")
    with pytest.raises(PairsError, match="Row 2"):
        read_rows(path)


def test_the_command_writes_links_and_prints_error_rates(
    explorable: ExplorableModel, pairs: Path, gold: Path, tmp_path: Path, capsys
) -> None:
    checkpoint, out = tmp_path / "x.safetensors", tmp_path / "x.pharaoh"
    save_checkpoint(explorable.checkpoint, checkpoint)
    command = ["align", str(checkpoint), "--pairs", str(pairs)]
    assert main([*command, "--layer", "1", "--mean", "--timing", "prediction"]) == 0
    printed = capsys.readouterr().out
    (aligned,) = align_pairs(explorable, PAIRS, [Reading(1, None, "prediction")])
    assert printed == aligned.text()
    assert main([*command, "--gold", str(gold), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert (
        len(re.findall(r"^L\d (?:H\d|mean) +(?:input|prediction) +[\d.]+%$", printed, re.M)) == 16
    )
    assert re.fullmatch(r"(?:(?:\d-\d ?)+\n){3}", out.read_text())
    ways = r"^(L\d) (?:H\d|mean) +(input|prediction) "
    assert main([*command, "--gold", str(gold), "--timing", "input"]) == 0
    compared = re.findall(ways, capsys.readouterr().out, re.M)
    assert compared.count(("L0", "input")) == compared.count(("L1", "input")) == 4
    assert len(compared) == 8
    assert main([*command, "--gold", str(gold), "--layer", "1"]) == 0
    compared = re.findall(ways, capsys.readouterr().out, re.M)
    assert sorted(compared) == [("L1", "input")] * 4 + [("L1", "prediction")] * 4
    assert main([*command, "--gold", str(gold), "--layer", "9"]) == 2
    assert "no L9" in capsys.readouterr().err
    for unclear in (["--layer", "1"], ["--gold", str(gold), "--head", "1"], ["--mean"]):
        assert main([*command, *unclear]) == 2
        assert "--layer with --head" in capsys.readouterr().err
    assert main(command) == 2
    assert "--gold" in capsys.readouterr().err
    assert main([*command, "--layer", "1", "--head", "3"]) == 2
    assert "no L1 H3" in capsys.readouterr().err
