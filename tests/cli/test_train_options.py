import argparse
import re
from dataclasses import fields

import pytest

from explorer.__main__ import main
from explorer.cli.train_options import SETTING_GROUPS, add_options, chosen_settings
from explorer.core.folders import shipped_checkpoints
from explorer.model.checkpoint import load_checkpoint
from explorer.training.config import TrainingConfig, quick_demo, small_translation


def settings(*words: str) -> TrainingConfig:
    """The settings that a command line chooses."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return chosen_settings(parser.parse_args(words))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--task copy --swapped 0.5", "--swapped applies to a training on pairs"),
        ("--pieces 400", "not to --task reverse"),
        ("--task copy --further-pairs x.tsv", "--further-pairs applies to a training on pairs"),
        ("--task copy --no-joint", "--joint applies to a training on pairs"),
        ("--pairs {pairs} --task copy", "--task applies to a toy task"),
        ("--texts {pairs} --symbols 1,2", "--symbols does not apply to a training on texts"),
        ("--texts {pairs} --swapped 0.5", "--swapped does not apply to a training on texts"),
        ("--texts {pairs} --pairs {pairs}", "on pairs (--pairs) or on texts (--texts)"),
        ("--texts {pairs} --encoder-layers 1", "is for a decoder alone"),
        ("--task copy --encoder-layers 0", "needs an encoder"),
        ("--pairs {pairs} --small-alphabets 0.5", "--small-alphabets applies to a toy task"),
        ("--pairs {pairs} --batch 8 --batch-tokens 900", "give only one of them"),
        ("--pairs {pairs} --start {pairs} --pieces 400", "--pieces applies to pieces that are"),
        ("--resume", "--resume applies only with --run"),
        ("--run {pairs}-run --half", "--half applies only with --out"),
    ],
)
def test_what_does_not_apply_is_refused_in_one_sentence(given, said, pairs_file, capsys):
    assert main(["train", *given.format(pairs=pairs_file).split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_the_help_has_every_setting_once_under_a_heading_with_its_choices(capsys):
    names = [name for group in SETTING_GROUPS.values() for name in group]
    assert sorted(names) == sorted(field.name for field in fields(TrainingConfig))
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    printed = capsys.readouterr().out
    for heading in ("run", *SETTING_GROUPS, "examples"):
        assert f"\n{heading}:\n" in printed
    assert "--task {copy,induction,reverse,sort}" in printed
    assert "--norm {pre,post}" in printed
    defaults = re.findall(r"\(default: ([^)]*)\)", " ".join(printed.split()))
    assert len(defaults) >= len(names)
    assert not [text for text in defaults if re.search(r"['\"(\[]|True|False|None", text)]
    assert "1 2; with --texts 1" in defaults  # --columns
    assert "--seed N " in printed
    files = len(re.findall(r"\(default:\s+none\)", printed))
    assert files == 5  # --pairs, --texts, --excluded, --further-pairs, --start


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_the_defaults_of_a_task_are_the_settings_of_the_model_that_ships(task):
    command = load_checkpoint(shipped_checkpoints() / f"{task}.safetensors").facts["command"]
    given = command.split(" train ", 1)[1].split()
    assert settings(*given) == settings("--task", task)


def test_the_help_names_the_defaults_of_each_task(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    steps = (
        "4000; with --task copy 2000; with --task induction 2000; "
        "with --task sort 6000; with --pairs 24000; with --texts 8000"
    )
    assert f"(default: {steps})" in text
    assert (
        "(default: 0.0; with --task induction 0.1; with --pairs 0.1; with --texts 0.1)" in text
    )  # dropout
    assert "or with pairs at this BLEU divided by 100" in " ".join(text.split())


@pytest.mark.parametrize("name", ["warmup", "evaluate_every"])
def test_a_setting_after_the_last_step_is_refused_and_a_default_is_lowered(name, capsys, tmp_path):
    assert getattr(settings("--steps", "7"), name) == 7
    given = ["--steps", "7", f"--{name.replace('_', '-')}", "8", "--run", str(tmp_path / "x")]
    assert main(["train", *given]) == 2
    error = capsys.readouterr().err
    assert f"{name}: 8 steps are more than the 7 of the training" in error
    assert "Traceback" not in error


def test_the_checkpoint_to_begin_with_may_be_named_as_one_that_ships(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = "--task", "reverse", "--start"
    path = str(shipped_checkpoints() / "reverse.safetensors")
    assert settings(*given, "reverse") == settings(*given, path)
    assert settings(*given, "reverse").start == path
    assert main(["train", *given, "klingon"]) == 2
    assert "“klingon” is neither a file nor the name of a model" in capsys.readouterr().err


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("task", ["copy", "induction", "reverse", "sort"])
def test_quick_is_the_quick_demo_of_the_app(task, on_gpu, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: on_gpu)
    demo = quick_demo(task, on_gpu=on_gpu)
    assert settings("--task", task, "--quick") == demo
    changed = settings("--task", task, "--quick", "--steps", "30", "--heads", "2")
    assert (changed.steps, changed.warmup, changed.d_model) == (30, 30, demo.d_model)
    assert settings("--quick") == quick_demo("reverse", on_gpu=on_gpu)
    on_cpu = settings("--task", task, "--quick", "--device", "cpu")
    assert on_cpu == quick_demo(task, on_gpu=False)


def test_quick_with_pairs_is_what_your_pairs_suggests(pairs_file, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    suggested = small_translation(str(pairs_file), ("2", "1"), on_gpu=False)
    assert settings("--pairs", str(pairs_file), "--quick", "--columns", "2,1") == suggested
