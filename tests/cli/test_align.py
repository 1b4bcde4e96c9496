import re
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.core.alignment import pharaoh
from explorer.core.errors import RemovedError
from explorer.core.folders import shipped_checkpoints
from explorer.heads.alignment.gold_file import AlignmentFile
from explorer.heads.alignment.pair_links import pair_links
from explorer.model.checkpoint import save_checkpoint
from explorer.model.explorable import ExplorableModel

PAIRS = "1 2 3\t3 2 1\n2 甲\t甲 2\n1\t1\n"
HEAD = ["--layer", "1", "--head", "0"]


@pytest.fixture
def checkpoint(explorable: ExplorableModel, tmp_path: Path) -> str:
    save_checkpoint(explorable.checkpoint, tmp_path / "x.safetensors")
    return str(tmp_path / "x.safetensors")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    (tmp_path / "x.tsv").write_text(PAIRS, "utf-8")
    return tmp_path / "x.tsv"


def test_links_are_printed_or_written(
    explorable: ExplorableModel, checkpoint: str, pairs: Path, tmp_path: Path, capsys
) -> None:
    command = ["align", checkpoint, "--pairs", str(pairs), "--layer", "1", "--mean"]
    assert main([*command, "--progress", str(tmp_path / "progress")]) == 0
    found = pair_links(explorable, AlignmentFile.read(pairs, ("1", "2")), 1, None)
    printed = capsys.readouterr().out
    assert printed == "".join(f"{pharaoh(links or frozenset())}\n" for links in found)
    assert (tmp_path / "progress").read_text() == "1.000"
    out = tmp_path / "x.pharaoh"
    assert main([*command, "--out", str(out)]) == 0
    assert out.read_text() == printed
    assert "pairs: 3" in capsys.readouterr().out


@pytest.mark.parametrize("which", [[], ["--layer", "1"], ["--head", "1"], ["--mean"]])
def test_a_head_or_the_mean_of_a_layer_is_named(checkpoint, pairs, which, capsys) -> None:
    assert main(["align", checkpoint, "--pairs", str(pairs), *which]) == 2
    assert "--layer with --head or --mean" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--gold", "--report", "--called"])
def test_an_option_that_is_gone_names_what_remains(checkpoint, pairs, option, capsys) -> None:
    for given in ([option], [option, "x.gold"]):
        assert main(["align", checkpoint, "--pairs", str(pairs), *HEAD, *given]) == 2
        assert capsys.readouterr().err == f"error: {RemovedError('error_rates')}\n"
    with pytest.raises(SystemExit):
        main(["align", "--help"])
    assert option not in capsys.readouterr().out


def test_tokens_may_be_columns(checkpoint: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("1 2 3\t3 2 1\t0-1 1-0\t12 3\t3 21\n", "utf-8")
    command = ["align", checkpoint, "--pairs", str(path), *HEAD, "--columns"]
    assert main([*command, "1,2,3,4,5"]) == 0
    by_default = capsys.readouterr().out
    assert main([*command, "1,2,3,4,5", "--tokens", "columns"]) == 0
    assert capsys.readouterr().out == by_default
    assert main([*command, "1,2,4,5"]) == 0
    assert capsys.readouterr().out == by_default
    assert re.fullmatch(r"[01]-0 [01]-1\n", by_default)
    assert main([*command, "1,2,3", "--tokens", "columns"]) == 2
    assert "--columns 1,2,3,4,5" in capsys.readouterr().err
    assert main([*command, "1,2,3,5,4"]) == 2
    assert "Row 1 of “x.tsv”: the text goes on with “1 2 3”" in capsys.readouterr().err


def test_pairs_that_are_too_long_are_named_and_have_an_empty_line(
    checkpoint: str, pairs: Path, capsys
) -> None:
    pairs.write_text(f"1\t1\n{' '.join('1' * 11)}\t1\n2\t2\n", "utf-8")
    assert main(["align", checkpoint, "--pairs", str(pairs), *HEAD]) == 0
    printed = capsys.readouterr()
    assert re.fullmatch(r"0-0\n\n0-0\n", printed.out)
    assert "1 of 3 pairs are too long for the model and were skipped: rows 2" in printed.err


def test_a_toy_model_for_sentences_asks_for_a_translator(
    checkpoint: str, tmp_path: Path, capsys
) -> None:
    (tmp_path / "x.tsv").write_text("I see\tJe vois\t0-0\n", "utf-8")
    pairs = ["--pairs", str(tmp_path / "x.tsv"), "--columns", "1,2,3"]
    assert main(["align", checkpoint, *pairs, *HEAD]) == 2
    assert "cannot read “I”: it knows 1 2 3" in (said := capsys.readouterr().err)
    assert "sentences need a translator" in said
    assert main(["measure", checkpoint, "--gold", str(tmp_path / "x.tsv")]) == 2
    assert "sentences need a translator" in capsys.readouterr().err


def test_a_file_that_is_read_is_not_overwritten(
    checkpoint: str, pairs: Path, tmp_path: Path, capsys
) -> None:
    command = ["align", checkpoint, "--pairs", str(pairs), *HEAD, "--out"]
    for path in (Path(checkpoint), pairs):
        before = path.read_bytes()
        assert main([*command, str(path)]) == 2
        assert f"“{path.name}” is read by this command" in capsys.readouterr().err
        assert path.read_bytes() == before
    assert main([*command, str(tmp_path / "none" / "x.pharaoh")]) == 2
    assert "there is no folder" in capsys.readouterr().err


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
