import re

import pytest
import torch
from safetensors.torch import load_file

from explorer.__main__ import main
from explorer.core.trace import Trace
from explorer.heads.head_report import HeadReport
from explorer.model.checkpoint import load_checkpoint, save_checkpoint

TINY = (
    "train --task copy --longest 2 --d-model 16 --heads 2 --d-ff 16 --encoder-layers 1 "
    "--decoder-layers 1 --steps 40 --evaluate-every 20 --device cpu"
)


def test_train_writes_a_checkpoint_that_knows_where_it_comes_from(tmp_path, capsys, monkeypatch):
    out = tmp_path / "x.safetensors"
    arguments = [*TINY.split(), "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["explorer", *arguments])
    assert main(arguments) == 0
    facts = load_checkpoint(out).facts
    assert facts["task"] == "copy"
    assert facts["steps"] == 40
    assert facts["longest"] == 2
    assert facts["command"].startswith("python -m explorer train --task copy")
    assert set(facts["exact_match_by_length"]) == {"1", "2"}
    printed = capsys.readouterr()
    assert re.search(r"exact match \d+\.\d\d%", printed.out)
    for word in ("loss", "exact", "tokens/s", "40/40"):
        assert word in printed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --heads 3", "cannot be shared by 3 heads"),
        ("train --task invert", "copy, reverse, sort"),
        ("trace nowhere.safetensors 1", "cannot be read"),
        ("trace nowhere.safetensors 1 --out x.png", ".html"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments, words, capsys):
    assert main(arguments.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert words in error
    assert error.count("\n") == 1


def test_a_place_that_cannot_be_written_is_said_before_the_training(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([*TINY.split(), "--out", str(tmp_path / "file" / "x.safetensors")]) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error
    assert "step" not in error


def test_trace_writes_a_page_or_a_file_or_a_summary(explorable, tmp_path, capsys):
    checkpoint = tmp_path / "tiny.safetensors"
    save_checkpoint(explorable.checkpoint, checkpoint)
    page, file = tmp_path / "x.html", tmp_path / "x.trace"
    assert main(["trace", str(checkpoint), "1 2", "--out", str(page)]) == 0
    assert "<html" in page.read_text(encoding="utf-8")[:200]
    assert main(["trace", str(checkpoint), "1 2", "--pad-to", "5", "--out", str(file)]) == 0
    assert Trace.load(file).source_tokens[-1] == "<pad>"
    assert main(["trace", str(checkpoint), "1 2"]) == 0
    assert "rows_sum_to_one" in capsys.readouterr().out


def test_a_place_that_cannot_be_written_is_said(explorable, tmp_path, capsys):
    checkpoint = tmp_path / "tiny.safetensors"
    save_checkpoint(explorable.checkpoint, checkpoint)
    assert main(["trace", str(checkpoint), "1", "--out", str(tmp_path / "no" / "x.trace")]) == 2
    assert "cannot be written" in capsys.readouterr().err


TINY_PAIRS = (
    "--pieces 400 --longest 32 --d-model 16 --heads 2 --d-ff 16 --encoder-layers 1 "
    "--decoder-layers 1 --steps 20 --evaluate-every 10 --batch 16 --device cpu"
)


def test_a_translation_is_recorded_judged_and_written_half_the_size(pairs_file, tmp_path, capsys):
    run, out = tmp_path / "runs" / "tiny", tmp_path / "tiny.safetensors"
    arguments = ["train", "--pairs", str(pairs_file), *TINY_PAIRS.split(), "--run", str(run)]
    assert main([*arguments, "--out", str(out), "--half", "--credit", "Made up."]) == 0
    facts = load_checkpoint(out).facts
    assert facts["task"] == "translate"
    assert facts["credit"] == "Made up."
    assert facts["pairs"]["kept"] == 240
    assert facts["device"] == "cpu"
    assert 0 <= facts["bleu"] <= 100
    kinds = {tensor.dtype for tensor in load_file(out).values()}
    assert kinds == {torch.float16, torch.uint8}  # weights, and the pieces' bytes
    printed = capsys.readouterr()
    assert "held-out sources" in printed.out
    assert "BLEU" in printed.err
    assert main(["runs", "--root", str(run.parent)]) == 0
    assert main(["runs", "show", "tiny", "--root", str(run.parent)]) == 0
    assert "BLEU" in capsys.readouterr().out


def test_a_file_that_is_no_table_ends_in_one_sentence(tmp_path, capsys):
    path = tmp_path / "one.tsv"
    path.write_text("only one column\n" * 200)
    assert main(["train", "--pairs", str(path), "--out", str(tmp_path / "x.safetensors")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: No row of “one.tsv” has the columns 1, 2")
    assert error.count("\n") == 1


@pytest.fixture
def tiny(explorable, tmp_path):
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    return str(tmp_path / "tiny.safetensors")


def test_trace_takes_interventions(tiny, explorable, tmp_path, capsys):
    file = tmp_path / "x.trace"
    given = ["--ablate", "cross.1.2", "--ablate", "cross.0.1 mean", "--keep", "encoder.0.1"]
    given += ["--close", "cross.1.0 0 1", "--row", "cross.0.0 0 1,1"]
    assert main(["trace", tiny, "1 2", *given, "--out", str(file)]) == 0
    assert Trace.load(file).facts["interventions"] == [
        *("ablate cross.1.2", "ablate cross.0.1 mean", "keep encoder.0.1"),
        *("close cross.1.0 0 1", "row cross.0.0 0 1,1"),
    ]
    opened = ["--open", "decoder.*.* 0 1"]
    assert main(["trace", tiny, "1 2", "--target", "2 1", *opened]) == 0
    assert "expected" in capsys.readouterr().out
    assert main(["trace", tiny, "1 2", "--ablate", "cross.1.9"]) == 2
    assert "cross.1.9" in capsys.readouterr().err


def test_heads_prints_a_table_or_writes_one(tiny, tmp_path, capsys):
    assert main(["heads", tiny, "--sentences", "12"]) == 0
    printed = capsys.readouterr().out
    assert "reverse, held out" in printed
    assert "normalised_entropy" in printed
    assert "no clear role" in printed
    assert "confidence_low" not in printed
    out = tmp_path / "x.json"
    wanted = ["--importance", "--ablation", "--removed-on", "4", "--out", str(out)]
    assert main(["heads", tiny, "--sentences", "12", *wanted]) == 0
    findings = HeadReport.load(out)
    assert {"importance", "zero_loss", "only_exact"} <= set(findings.metrics)
    assert main(["heads", tiny, "--sentences", "4", "--out", str(tmp_path / "x.csv")]) == 0
    assert (tmp_path / "x.csv").read_text().startswith("site,layer,head,confidence,")


def test_heads_tells_a_file_how_far_it_is(tiny, tmp_path):
    told = tmp_path / "progress"
    assert main(["heads", tiny, "--sentences", "4", "--progress", str(told)]) == 0
    assert told.read_text() == "1.000"


def test_heads_measures_on_given_pairs_and_lines(tiny, tmp_path, capsys):
    (tmp_path / "pairs.tsv").write_text("1 2\t2 1\n\n3\t3\tsomebody\n2 2\t2\n", encoding="utf-8")
    (tmp_path / "lines.txt").write_text("1 2\n\n甲 3\n", encoding="utf-8")
    assert main(["heads", tiny, "--pairs", str(tmp_path / "pairs.tsv"), "--sentences", "2"]) == 0
    assert "pairs.tsv (2): teacher-forced on the given targets" in capsys.readouterr().out
    assert main(["heads", tiny, "--lines", str(tmp_path / "lines.txt")]) == 0
    assert "lines.txt (2): teacher-forced on the model's own" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--sentences 0", "at least one"),
        ("--sentences -3", "at least one"),
        ("--lines nowhere.txt", "cannot be read"),
        ("--out x.png", ".json"),
    ],
)
def test_heads_that_cannot_be_measured_are_one_sentence(tiny, options, words, capsys):
    assert main(["heads", tiny, *options.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert words in error
