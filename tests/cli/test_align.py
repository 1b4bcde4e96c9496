import re
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.core.folders import shipped_checkpoints
from explorer.data.parallel_corpus import Pair
from explorer.heads.alignment.aer_by_head import align_pairs
from explorer.heads.alignment.aer_report import AlignmentMethod, AlignmentReport
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


def test_links_are_written_and_error_rates_printed(
    explorable: ExplorableModel, pairs: Path, gold: Path, tmp_path: Path, capsys
) -> None:
    checkpoint, out = tmp_path / "x.safetensors", tmp_path / "x.pharaoh"
    save_checkpoint(explorable.checkpoint, checkpoint)
    command = ["align", str(checkpoint), "--pairs", str(pairs)]
    assert main([*command, "--layer", "1", "--mean", "--timing", "prediction"]) == 0
    printed = capsys.readouterr().out
    (aligned,) = align_pairs(explorable, PAIRS, [AlignmentMethod(1, None, "prediction")]).methods
    assert printed == aligned.text()
    assert main([*command, "--gold", str(gold), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert (
        len(re.findall(r"^L\d (?:H\d|mean) +(?:input|prediction) +[\d.]+% ", printed, re.M)) == 16
    )
    assert re.fullmatch(r"(?:(?:\d-\d ?)+\n){3}", out.read_text())
    methods = r"^(L\d) (?:H\d|mean) +(input|prediction) "
    assert main([*command, "--gold", str(gold), "--timing", "input"]) == 0
    compared = re.findall(methods, capsys.readouterr().out, re.M)
    assert compared.count(("L0", "input")) == compared.count(("L1", "input")) == 4
    assert len(compared) == 8
    assert main([*command, "--gold", str(gold), "--layer", "1"]) == 0
    compared = re.findall(methods, capsys.readouterr().out, re.M)
    assert sorted(compared) == [("L1", "input")] * 4 + [("L1", "prediction")] * 4
    assert main([*command, "--gold", str(gold), "--layer", "9"]) == 2
    assert "no L9" in capsys.readouterr().err
    for ambiguous in (["--layer", "1"], ["--gold", str(gold), "--head", "1"], ["--mean"]):
        assert main([*command, *ambiguous]) == 2
        assert "--layer with --head" in capsys.readouterr().err
    assert main(command) == 2
    assert "--gold" in capsys.readouterr().err
    assert main([*command, "--layer", "1", "--head", "3"]) == 2
    assert "no L1 H3" in capsys.readouterr().err


def test_tokens_may_be_columns(
    explorable: ExplorableModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, path = tmp_path / "x.safetensors", tmp_path / "x.tsv"
    save_checkpoint(explorable.checkpoint, checkpoint)
    path.write_text("1 2 3\t3 2 1\t0-1 1-0\t12 3\t3 21\n", "utf-8")
    command = ["align", str(checkpoint), "--pairs", str(path), "--columns"]
    assert main([*command, "1,2,3,4,5"]) == 0
    by_default = capsys.readouterr().out
    assert main([*command, "1,2,3,4,5", "--tokens", "columns"]) == 0
    assert capsys.readouterr().out == by_default
    assert main([*command, "1,2,4,5", "--layer", "1", "--head", "0"]) == 0
    assert re.fullmatch(r"[01]-0 [01]-1\n", capsys.readouterr().out)
    assert main([*command, "1,2,3", "--tokens", "columns"]) == 2
    assert "--columns 1,2,3,4,5" in capsys.readouterr().err
    assert main([*command, "1,2,3,5,4"]) == 2
    assert "Row 1 of “x.tsv”: the text goes on with “1 2 3”" in capsys.readouterr().err


def test_error_rates_are_written_as_a_report(
    explorable: ExplorableModel, pairs: Path, gold: Path, tmp_path: Path, capsys
) -> None:
    checkpoint, report = tmp_path / "x.safetensors", tmp_path / "x.json"
    save_checkpoint(explorable.checkpoint, checkpoint)
    command = ["align", str(checkpoint), "--pairs", str(pairs)]
    compared = [*command, "--gold", str(gold), "--progress", str(tmp_path / "progress")]
    assert main([*compared, "--report", str(report), "--called", "mine"]) == 0
    found = AlignmentReport.load(report)
    assert (found.name, found.unit, found.pairs, found.skipped) == ("mine", "whitespace", 3, 0)
    assert len(found.rates) == 17
    assert (tmp_path / "progress").read_text() == "1.000"
    capsys.readouterr()
    assert main([*compared, "--report", str(tmp_path / "x.txt")]) == 2
    assert "should end in .csv" in capsys.readouterr().err
    layer = ["--layer", "1", "--head", "0"]
    assert main([*command, *layer, "--report", str(report)]) == 2
    assert "--report needs right links" in capsys.readouterr().err


def test_words_that_are_not_what_spaces_separate_are_counted(tmp_path: Path, capsys) -> None:
    model = str(shipped_checkpoints() / "english-french.safetensors")
    (tmp_path / "x.tsv").write_text("I'm here.\tJe suis ici.\t0-0\n", "utf-8")
    command = ["align", model, "--pairs", str(tmp_path / "x.tsv"), "--columns", "1,2,3"]
    assert main([*command, "--layer", "0", "--tokens", "words"]) == 0
    said = capsys.readouterr().err
    assert "1 of 1 pairs have another number of words than spaces separate" in said
    assert "--tokens whitespace: rows 1" in said


def test_a_toy_model_for_sentences_asks_for_a_translator(
    explorable: ExplorableModel, tmp_path: Path, capsys
) -> None:
    save_checkpoint(explorable.checkpoint, tmp_path / "x.safetensors")
    (tmp_path / "x.tsv").write_text("I see\tJe vois\t0-0\n", "utf-8")
    pairs = ["--pairs", str(tmp_path / "x.tsv"), "--columns", "1,2,3"]
    assert main(["align", str(tmp_path / "x.safetensors"), *pairs]) == 2
    assert "cannot read “I”: it knows 1 2 3" in (said := capsys.readouterr().err)
    assert "sentences need a translator" in said
    assert (
        main(["measure", str(tmp_path / "x.safetensors"), "--gold", str(tmp_path / "x.tsv")]) == 2
    )
    assert "sentences need a translator" in capsys.readouterr().err


def test_a_file_that_is_read_is_not_overwritten(
    explorable: ExplorableModel, pairs: Path, gold: Path, tmp_path: Path, capsys
) -> None:
    checkpoint = tmp_path / "x.safetensors"
    save_checkpoint(explorable.checkpoint, checkpoint)
    command = ["align", str(checkpoint), "--pairs", str(pairs), "--gold", str(gold)]
    for path in (checkpoint, pairs, gold):
        before = path.read_bytes()
        assert main([*command, "--out", str(path)]) == 2
        assert f"“{path.name}” is read by this command" in capsys.readouterr().err
        assert path.read_bytes() == before
    assert main([*command, "--out", str(tmp_path / "none" / "x.pharaoh")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    gold = gold.rename(tmp_path / "gold.csv")
    assert main([*command[:-1], str(gold), "--report", str(gold)]) == 2
    assert "would be overwritten" in capsys.readouterr().err
    both = ["--out", str(tmp_path / "x.csv"), "--report", str(tmp_path / "." / "x.csv")]
    assert main([*command[:-1], str(gold), *both]) == 2
    assert "Two outputs would be written" in capsys.readouterr().err


def test_a_model_that_ships_is_known_by_its_name(tmp_path: Path, capsys) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("17\tI am here.\t99\tJe suis ici.\n", "utf-8")
    named = ["align", "english-french", "--pairs", str(table), "--layer", "1", "--mean"]
    assert main(named) == 0  # of the columns of texts
    printed = capsys.readouterr().out
    path = str(shipped_checkpoints() / "english-french.safetensors")
    assert main(["align", path, *named[2:], "--columns", "2,4"]) == 0
    assert capsys.readouterr().out == printed
    assert re.fullmatch(r"(\d-\d ?)+\n", printed)
