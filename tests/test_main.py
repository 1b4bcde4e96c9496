import pytest

from explorer.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train --heads 3", "cannot be shared by 3 heads"),
        ("train --task invert", "copy, reverse, sort"),
        ("trace nowhere.safetensors 1", "cannot be read"),
        ("trace nowhere.safetensors 1 --out x.png", ".html"),
    ],
)
def test_errors_are_one_sentence(arguments, message, capsys):
    assert main(arguments.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("script", "prog"),
    [
        ("/usr/local/bin/attention-explorer", "attention-explorer"),
        ("C:/Scripts/attention-explorer.exe", "attention-explorer"),
        ("explorer/__main__.py", "python -m explorer"),
    ],
)
@pytest.mark.parametrize("command", [[], ["train"]])
def test_help_names_the_command_as_it_was_called(script, prog, command, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [script])
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {' '.join([prog, *command])} ")


def test_every_command_is_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    for command in ("start", "class", "train", "trace", "heads", "align", "runs"):
        assert f"\n    {command} " in printed


def test_an_interrupted_command_exits_with_130(monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("explorer.cli.runs._runs", interrupted)
    assert main(["runs"]) == 130
