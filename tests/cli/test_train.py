import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file

from explorer.__main__ import main
from explorer.jobs.status import Status
from explorer.jobs.training_run import create_run
from explorer.model.checkpoint import load_checkpoint, save_checkpoint
from explorer.training import distributed
from explorer.training.config import TrainingConfig, translation

TINY = (
    "train --task copy --longest 2 --d-model 16 --heads 2 --d-ff 16 --encoder-layers 1 "
    "--decoder-layers 1 --steps 40 --evaluate-every 20 --device cpu"
)

TINY_PAIRS = (
    "--pieces 400 --longest 32 --d-model 16 --heads 2 --d-ff 16 --encoder-layers 1 "
    "--decoder-layers 1 --steps 20 --evaluate-every 10 --batch 16 --device cpu"
)


def test_the_checkpoint_records_its_training(tmp_path, capsys, monkeypatch):
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
    for text in ("loss", "exact", "tokens/s", "40/40", "evaluating on the test part: 100%"):
        assert text in printed.err


def test_a_training_without_a_run_says_at_its_start_that_nothing_is_kept(tmp_path, capsys):
    out = tmp_path / "x.safetensors"
    said = f"nothing is kept before the end, when {out} is written: with --run FOLDER"
    assert main([*TINY.split(), "--out", str(out)]) == 0
    before, _, after = capsys.readouterr().err.partition(said)
    assert after
    assert "loss" not in before
    assert main([*TINY.split(), "--out", str(out), "--run", str(tmp_path / "run")]) == 0
    assert "nothing is kept" not in capsys.readouterr().err


def test_a_training_without_a_run_says_that_nothing_was_written(tmp_path):
    out = tmp_path / "x.safetensors"
    command = [sys.executable, "-u", "-m", "explorer", *TINY.split(), "--out", str(out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        [*command, "--steps", "100000"], cwd=Path(__file__).parents[2], **pipes
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()  # that nothing is kept
        process.stderr.read(1)  # the progress bar
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.search(r"stopped at step \d+; nothing was written", printed)
    assert "Traceback" not in errors
    assert not out.exists()


def test_an_unwritable_path_is_an_error_before_the_training(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([*TINY.split(), "--out", str(tmp_path / "file" / "x.safetensors")]) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error
    assert "step" not in error


def test_a_file_that_is_read_is_not_overwritten_and_the_ending_is_checked(
    pairs_file, explorable, tmp_path, capsys
):
    pairs = tmp_path / "pairs.safetensors"
    pairs.write_bytes(data := pairs_file.read_bytes())
    for option in ("--pairs", f"--pairs {pairs_file} --excluded", "--start"):
        if option == "--start":
            save_checkpoint(explorable.checkpoint, pairs)
            data = pairs.read_bytes()
        assert main(f"train {option} {pairs} --out {pairs}".split()) == 2
        assert "“pairs.safetensors” is read by this command" in capsys.readouterr().err
        assert pairs.read_bytes() == data
    assert main([*TINY.split(), "--out", str(tmp_path / "x.tsv")]) == 2
    assert "“x.tsv” should end in .safetensors" in capsys.readouterr().err


def test_a_run_whose_data_are_refused_leaves_its_name_free(pairs_file, tmp_path, capsys):
    run, kept = tmp_path / "runs" / "mine", tmp_path / "runs" / "kept"
    kept.mkdir(parents=True)
    (kept / "notes.txt").write_text("mine")
    none = tmp_path / "none"
    for folder in (run, kept):
        command = f"train --pairs {pairs_file} {TINY_PAIRS} --steps 10 --run {folder}"
        for wrong in ("--columns 1,7", f"--excluded {none}", f"--further-pairs {none}"):
            assert main([*command.split(), *wrong.split()]) == 2
            said = capsys.readouterr().err
            assert "error: " in said
            assert "%|" not in said  # no progress bar
            assert not (folder / "config.json").exists()
    assert not run.exists()
    assert (kept / "notes.txt").read_text() == "mine"
    for folder in (run, kept):
        command = f"train --pairs {pairs_file} {TINY_PAIRS} --steps 10 --run {folder}"
        assert main(command.split()) == 0
    pairs_file.write_text("")
    created = create_run(
        tmp_path / "runs" / "app", replace(translation(str(pairs_file)), device="cpu")
    )
    assert main(["train", "--run", str(created.folder), "--resume"]) == 2
    assert created.status().state == "failed"


def test_several_processes_are_launched_and_again_to_resume(tmp_path, monkeypatch):
    launched: list[tuple[list[str], int]] = []
    monkeypatch.setattr(distributed, "launch", lambda *given: launched.append(given) or 0)
    run = create_run(tmp_path / "one", TrainingConfig(device="cpu", processes=3))
    for arguments, processes in (
        ([*TINY.split(), "--processes", "2"], 2),
        (["train", "--run", str(run.folder), "--resume"], 3),
    ):
        monkeypatch.setattr("sys.argv", ["explorer", *arguments])
        assert main(arguments) == 0
        assert launched.pop() == (arguments, processes)
    assert main([*TINY.split(), "--processes", "0"]) == 2
    assert not launched


def test_a_run_that_diverged_is_not_resumed(tmp_path, capsys):
    run = create_run(tmp_path / "one", TrainingConfig(device="cpu"))
    run.write_status(Status("failed", 7, time.time(), error=("diverged", {"step": "7"})))
    assert main(["train", "--run", str(run.folder), "--resume"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: The run “one” diverged and would diverge again")
    assert error.count("\n") == 1


def test_a_translation_is_recorded_evaluated_and_written_at_half_size(pairs_file, tmp_path, capsys):
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


def test_how_many_pairs_are_kept_and_held_out_is_printed_at_the_start(pairs_file, tmp_path, capsys):
    excluded, further = tmp_path / "excluded.txt", tmp_path / "further.tsv"
    excluded.write_text("I see a dog today.\nI see a dog now.\nI see a dog here.\n", "utf-8")
    further.write_text("cible\tsource\n", "utf-8")
    with pairs_file.open("a", encoding="utf-8") as file:
        file.write("one\n\tblank\n")
    files = f"--pairs {pairs_file} --excluded {excluded} --further-pairs {further}"
    for out in ("--run", "--out"):
        command = f"train {files} {TINY_PAIRS} {out} {tmp_path / out}.safetensors"
        assert main(command.split()) == 0
        line = capsys.readouterr().out.splitlines()[0]
        assert line == (
            "pairs.tsv, columns 1, 2: of 242 rows 240 pairs are kept (left out: 0 duplicate, 1 "
            "with a blank side, 1 with too few columns); 214 to train on, 1 of another file among "
            "them (3 excluded, 0 too long); held out: 12 dev, 12 test"
        )


def test_the_columns_of_texts_are_trained_on_not_those_of_ids(pairs_file, tmp_path, capsys):
    rows = [line.split("\t") for line in pairs_file.read_text("utf-8").splitlines()]
    ids = tmp_path / "ids.tsv"

    def trained(columns: str, write: Callable[[int, str, str], str]) -> tuple[str, list[str]]:
        ids.write_text("".join(write(number, *row) for number, row in enumerate(rows)), "utf-8")
        out = tmp_path / "x.safetensors"
        assert main(f"train --pairs {ids} {TINY_PAIRS} {columns} --out {out}".split()) == 0
        lines = capsys.readouterr().out.splitlines()
        return lines[0], lines[1:-1]

    table = "{0}\t{1}\t{0}9\t{2}\n".format
    line, doubts = trained("", table)
    assert line.startswith("ids.tsv, columns 2, 4: of 240 rows 240 pairs are kept")
    assert not doubts
    line, doubts = trained("--columns 1,4", table)
    assert line.startswith("ids.tsv, columns 1, 4: of 240")
    assert doubts == ["Column 1 holds nothing but numbers; is it the right one?"]
    line, doubts = trained("", "{0}\t{2}\n".format)
    assert doubts == ["Column 1 holds nothing but numbers; is it the right one?"]
    line, doubts = trained("", "{1}\t{2} l &apos; homme\n".format)
    assert len(doubts) == 1
    assert doubts[0].startswith("Column 2 holds texts that another program prepared (&apos;)")
    ids.write_text("".join(f"{n}\t{a}\t{b}\tAnn\n" for n, (a, b) in enumerate(rows)), "utf-8")
    assert main(["train", "--pairs", str(ids), "--out", str(tmp_path / "y.safetensors")]) == 2
    assert "the columns 1 of 4" in (error := capsys.readouterr().err)
    assert error.count("\n") == 1


def test_a_run_is_resumed_by_the_same_command_and_not_with_other_settings(tmp_path, capsys):
    command = [*TINY.split(), "--run", str(tmp_path / "mine")]
    assert main(command) == 0
    capsys.readouterr()
    assert main([*command, "--resume"]) == 0
    bar = capsys.readouterr().err
    assert "40/40" in bar
    assert " 0/40" not in bar
    assert main([*command, "--resume", "--steps", "50"]) == 2
    assert "--steps is 40 in “mine”, not 50" in capsys.readouterr().err


def test_a_file_without_a_table_is_an_error(tmp_path, capsys):
    path = tmp_path / "one.tsv"
    path.write_text("only one column\n" * 200)
    assert main(["train", "--pairs", str(path), "--out", str(tmp_path / "x.safetensors")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: No row of “one.tsv” has the columns 1, 2")
    assert error.count("\n") == 1


def test_a_training_begins_with_a_checkpoint_and_has_its_sizes_and_symbols(tmp_path, capsys):
    first, second = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    assert main([*TINY.split(), "--symbols", "1 2 3", "--out", str(first)]) == 0
    start = f"train --task reverse --start {first} --steps 1 --rate 1e-8 --device cpu"
    assert main([*start.split(), "--out", str(second)]) == 0
    before, after = load_checkpoint(first), load_checkpoint(second)
    assert replace(after.model.config, dropout=0.0) == replace(before.model.config, dropout=0.0)
    assert after.source_vocabulary.symbols == ("1", "2", "3")
    assert after.facts["task"] == "reverse"
    for name, weight in before.model.state_dict().items():
        assert torch.allclose(weight, after.model.state_dict()[name], atol=1e-6), name
    assert main([*start.split(), "--d-model", "8", "--out", str(second)]) == 2
    assert "d_model is 16, and the settings say 8" in capsys.readouterr().err
    assert main([*start.split(), "--symbols", "1 2 4", "--out", str(second)]) == 2
    assert "its vocabulary does not write these texts" in capsys.readouterr().err
    run = ["--run", str(tmp_path / "run")]
    assert main([*start.split(), *run]) == 0
    first.unlink()  # the run has its own weights
    assert main([*start.split(), *run, "--resume", "--out", str(second)]) == 0
    assert load_checkpoint(second).facts["steps"] == 1
