import json
from pathlib import Path

import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.heads.pruning.pruning_report import PruningReport
from explorer.heads.removal import gated_decoding
from explorer.model.checkpoint import save_checkpoint


@pytest.fixture
def tiny(explorable, tmp_path: Path) -> str:
    """The path of a checkpoint of the `explorable` model."""
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    return str(tmp_path / "tiny.safetensors")


def test_curves_are_printed_or_written_with_progress(tiny, explorable, tmp_path, capsys) -> None:
    command = ["prune", tiny, "--sentences", "12", "--orders", "confidence"]
    assert main(command) == 0
    rows = capsys.readouterr().out.splitlines()
    changes = ["change_low", "change_high"]
    assert rows[0].split() == ["order", "heads_left", "loss", "low", "high", *changes, "removed"]
    assert rows[1].split()[:2] == ["confidence", "15"]
    out, progress = tmp_path / "x.json", tmp_path / "progress"
    assert main([*command, "--out", str(out), "--progress", str(progress)]) == 0
    assert progress.read_text() == "1.000"
    assert "x.json: confidence (sentences: 12)" in capsys.readouterr().out
    expected = explorable_curve(explorable)
    assert PruningReport.load(out).table().loss.tolist() == pytest.approx(expected)
    assert main([*command, "--out", str(tmp_path / "x.csv")]) == 0
    assert pd.read_csv(tmp_path / "x.csv").loss.tolist() == pytest.approx(expected)


def explorable_curve(explorable) -> list[float]:
    """By the function alone."""
    from explorer.heads.metrics.evaluation_batches import task_sentences
    from explorer.heads.pruning.pruning_study import pruning_curve

    return pruning_curve(explorable, task_sentences(explorable, 12), "confidence").loss.tolist()


def test_a_file_is_gone_on_with(tiny, tmp_path, capsys) -> None:
    """What is in it is believed and not measured again."""
    out = tmp_path / "x.json"
    command = ["prune", tiny, "--sentences", "6", "--orders", "importance", "--out", str(out)]
    assert main(command) == 0
    written = json.loads(out.read_text("utf-8"))
    (curve,) = written["curves"]
    curve["losses"] = [[*curve["losses"][0][:1], 7.0, 6.0, 8.0, 0, 0], *curve["losses"][1:3]]
    out.write_text(json.dumps(written), "utf-8")
    assert main([*command, "--orders", "importance,random"]) == 0
    report = PruningReport.load(out)
    assert report.complete
    assert report.curve("importance").losses[0].value == 7.0
    assert report.curve("random").losses[0].value != 7.0


def test_what_cannot_be_gone_on_with_is_said_in_one_sentence(tiny, tmp_path, capsys) -> None:
    out = tmp_path / "x.json"
    command = ["prune", tiny, "--orders", "importance", "--out", str(out), "--sentences"]
    assert main([*command, "6"]) == 0
    capsys.readouterr()
    assert main([*command, "7"]) == 2
    assert "another model or of other sentences" in capsys.readouterr().err
    out.write_text("{}")
    assert main([*command, "6"]) == 2
    assert "“x.json” holds no pruning curves" in capsys.readouterr().err
    assert main(["prune", tiny, "--out", str(tmp_path / "x.txt")]) == 2
    assert "should end in .csv" in capsys.readouterr().err
    assert main(["prune", tiny, "--orders", "size"]) == 2
    assert "choose one of importance" in capsys.readouterr().err
    assert main(["prune", tiny, "--orders", "random", "--seed", "-1"]) == 2
    assert "--seed is -1; expected a whole number from 0 to" in capsys.readouterr().err
    assert main(["prune", tiny, "--orders", ""]) == 2
    assert "at least one order" in capsys.readouterr().err


def test_lines_and_pairs_are_evaluation_batches(tiny, tmp_path, monkeypatch) -> None:
    (tmp_path / "pairs.tsv").write_text("1 2\t2 1\n3\t3\n2 2\t2\n", "utf-8")
    (tmp_path / "lines.txt").write_text("1 2\n\n甲 3\n", "utf-8")
    out = tmp_path / "x.json"
    command = ["prune", tiny, "--orders", "importance", "--out", str(out)]
    assert main([*command, "--texts", str(tmp_path / "lines.txt")]) == 0
    facts = PruningReport.load(out).facts
    assert (facts["sentences"], facts["targets"]) == (2, "greedy")
    out.unlink()
    assert main([*command, "--pairs", str(tmp_path / "pairs.tsv")]) == 0
    report = PruningReport.load(out)
    assert (report.facts["batch"], report.facts["sentences"]) == ("pairs.tsv", 3)
    assert report.bleu_points == ()  # of a toy task nothing is translated
    monkeypatch.setattr(gated_decoding, "task_of", lambda facts: None)  # as a translator
    out.unlink()
    assert main([*command, "--pairs", str(tmp_path / "pairs.tsv")]) == 0
    assert len(PruningReport.load(out).curve("importance").bleu) == 5


def test_a_file_that_is_read_is_not_overwritten(tiny, tmp_path, capsys) -> None:
    texts = tmp_path / "x.csv"
    texts.write_text("1 2\n", "utf-8")
    assert main(["prune", tiny, "--texts", str(texts), "--out", str(texts)]) == 2
    assert "“x.csv” is read by this command" in capsys.readouterr().err
    assert texts.read_text("utf-8") == "1 2\n"
    assert main(["prune", tiny, "--out", str(tmp_path / "none" / "x.csv")]) == 2
    assert "there is no folder" in capsys.readouterr().err
