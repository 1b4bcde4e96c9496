import pytest

from explorer.__main__ import main
from explorer.core import folders
from explorer.model.checkpoint import save_checkpoint


def test_a_checkpoint_or_a_shipped_model_is_exported(explorable, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path / "shipped"))
    (tmp_path / "shipped").mkdir()
    path = tmp_path / "shipped" / "tiny.safetensors"
    save_checkpoint(explorable.checkpoint, path)
    for number, name in enumerate([str(path), "tiny", "tiny.safetensors"]):
        out = tmp_path / f"out{number}"
        assert main(["export", name, "--to", "huggingface", str(out)]) == 0
        assert "the same logits" in capsys.readouterr().out
        assert (out / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere", "--to", "huggingface", "x"], "“nowhere” is neither a file nor the name of a"),
        (["nowhere", "--to", "onnx", "x"], "huggingface"),
        (["folder", "--to", "huggingface", "x"], "“folder” is a folder, and a file is expected"),
        (["reverse", "--to", "huggingface", "file"], "“file” is a file, and a folder is expected"),
    ],
)
def test_errors_are_one_sentence(options, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert main(["export", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
