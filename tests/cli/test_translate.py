import csv
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.cli.translate import _table
from explorer.data.parallel_corpus import Pair, read_rows
from explorer.model.checkpoint import save_checkpoint
from explorer.model.explorable import ExplorableModel


def test_each_text_is_written_with_its_greedy_translation(
    explorable: ExplorableModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, texts, out = (tmp_path / name for name in ("x.safetensors", "x.txt", "out.tsv"))
    save_checkpoint(explorable.checkpoint, checkpoint)
    longest = " ".join("1" * 500)
    texts.write_text(f"1 2 3\n\n3 1\n1 2 3\n{longest}\n", "utf-8")
    assert main(["translate", str(checkpoint), str(texts), "--out", str(out)]) == 0
    expected = {text: explorable.trace(text).text for text in ("3 1", "1 2 3")}
    assert out.read_text("utf-8") == "".join(f"{s}\t{t}\n" for s, t in expected.items())
    assert capsys.readouterr().out == f"{out}: translated: 2, too long for the model: 1\n"


def test_a_csv_file_is_read_and_written_as_one(
    explorable: ExplorableModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, texts, out = (tmp_path / name for name in ("x.safetensors", "x.csv", "out.csv"))
    save_checkpoint(explorable.checkpoint, checkpoint)
    texts.write_text("number,source\n7,1 2 3\n8,3 1\n", "utf-8")
    command = ["translate", str(checkpoint), str(texts), "--out", str(out)]
    assert main([*command, "--column", "source"]) == 0
    expected = [[text, explorable.trace(text).text] for text in ("3 1", "1 2 3")]
    assert list(csv.reader(out.read_text("utf-8-sig").splitlines())) == expected
    assert "2/2" in capsys.readouterr().err
    assert read_rows(out) == tuple(Pair(*row) for row in expected)
    assert main([*command, "--column", "2"]) == 2  # then the heading is a text
    assert "source" in capsys.readouterr().err
    assert main([*command, "--column", "none"]) == 2
    assert "no column called “none”" in capsys.readouterr().err


def test_cells_with_commas_and_quotation_marks_are_quoted() -> None:
    rows = [('a, "b"', "c"), ("d", "e")]
    assert _table(rows, commas=True).decode("utf-8-sig") == '"a, ""b""",c\r\nd,e\r\n'
    assert _table(rows, commas=False).decode() == 'a, "b"\tc\nd\te\n'


def test_a_missing_folder_and_a_file_without_texts_are_refused(
    explorable: ExplorableModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, texts = tmp_path / "x.safetensors", tmp_path / "x.txt"
    save_checkpoint(explorable.checkpoint, checkpoint)
    texts.write_text(" \n\n", "utf-8")
    command = ["translate", str(checkpoint), str(texts), "--out"]
    assert main([*command, str(tmp_path / "none" / "out.tsv")]) == 2
    assert f"there is no folder “{tmp_path / 'none'}”" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
    for path in (checkpoint, texts):
        assert main([*command, str(path)]) == 2
        assert f"“{path.name}” is read by this command" in capsys.readouterr().err
    assert texts.read_text("utf-8") == " \n\n"
    assert main([*command, str(tmp_path / "out.tsv")]) == 2
    assert "“x.txt” has no text in column 1" in capsys.readouterr().err
    assert not (tmp_path / "out.tsv").exists()


def test_what_is_no_model_or_no_file_is_one_sentence(
    explorable: ExplorableModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, texts = tmp_path / "x.safetensors", tmp_path / "x.txt"
    save_checkpoint(explorable.checkpoint, checkpoint)
    texts.write_text("1 @ 3\n", "utf-8")
    out = ["--out", str(tmp_path / "out.tsv")]
    for model, file, said in (
        (texts, texts, "x.txt"),
        (checkpoint, tmp_path / "none.txt", "none.txt"),
        (checkpoint, texts, "“x” is a model of the toy task “reverse” and cannot read “@”"),
        (checkpoint, checkpoint, "expected text in UTF-8, in columns (TSV or CSV) or"),
    ):
        assert main(["translate", str(model), str(file), *out]) == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "out.tsv").exists()


def test_a_translator_that_ships_is_known_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, out = tmp_path / "x.txt", tmp_path / "out.tsv"
    texts.write_text("I am here.\n", "utf-8")
    assert main(["translate", "english-french", str(texts), "--out", str(out)]) == 0
    assert out.read_text("utf-8") == "I am here.\tJe suis ici.\n"
    assert main(["translate", "klingon", str(texts), "--out", str(out)]) == 2
    assert "“klingon” is neither a file nor the name of a model" in capsys.readouterr().err
