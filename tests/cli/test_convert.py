import pytest
import torch

from explorer.__main__ import main
from explorer.model.checkpoint import save_checkpoint
from explorer.model.explorable import load
from tests.support.huggingface_families import saved, tiny_model
from tests.support.tutorial_transformers import Annotated


@pytest.fixture
def like(explorable, tmp_path):
    save_checkpoint(explorable.checkpoint, tmp_path / "like.safetensors")
    return tmp_path / "like.safetensors"


def test_a_file_of_weights_becomes_a_checkpoint(like, explorable, tmp_path, capsys):
    torch.save(explorable.transformer.state_dict(), tmp_path / "x.pt")
    out = tmp_path / "new.safetensors"
    assert main(["convert", str(tmp_path / "x.pt"), "--like", str(like), "--out", str(out)]) == 0
    assert "new.safetensors" in capsys.readouterr().out
    text = " ".join(explorable.source_vocabulary.symbols[:3])
    assert load(out).trace(text).text == explorable.trace(text).text


def test_the_name_of_a_model_that_ships_will_do(tmp_path):
    torch.save(load("checkpoints/sort.safetensors").transformer.state_dict(), tmp_path / "x.pt")
    out = str(tmp_path / "new.safetensors")
    assert main(["convert", str(tmp_path / "x.pt"), "--like", "sort", "--out", out]) == 0


def test_weights_of_a_tutorials_class_become_a_checkpoint(tmp_path, capsys):
    torch.manual_seed(1)
    torch.save(Annotated(9, 9, 12, 3, 16).state_dict(), tmp_path / "x.pt")
    words = ["pad", "start", "end", "un", "chat", "noir", "et", "le", "chien"]
    (tmp_path / "words.txt").write_text("\n".join(words), "utf-8")
    out, given = str(tmp_path / "new.safetensors"), [str(tmp_path / "x.pt"), "--layout"]
    options = ["--heads", "3", "--vocabulary", str(tmp_path / "words.txt"), "--out", out]
    assert main(["convert", *given, "annotated", *options, "--specials", "0", "1", "2"]) == 0
    trace = load(out).trace("start un chat noir")
    assert trace.source_tokens == ("start", "un", "chat", "noir", "<eos>")
    assert trace.attention("encoder").shape[:2] == (2, 3)
    capsys.readouterr()
    assert main(["convert", *given, "annotated", *options]) == 2
    assert "specials" in capsys.readouterr().err
    assert main(["convert", *given, "other", *options, "--specials", "0", "1", "2"]) == 2
    assert "annotated, w_q, d2l" in capsys.readouterr().err


def test_errors_are_one_sentence(like, explorable, tmp_path, capsys):
    (tmp_path / "x.pt").write_bytes(b"x")
    explorable.trace(explorable.source_vocabulary.symbols[0]).save(tmp_path / "x.trace")
    folder = saved(tiny_model("gpt2"), tmp_path / "gpt2")
    for weights, model, out, message in [
        ("x.pt", like, "new", "state_dict"),
        ("none.pt", like, "new", "cannot be read"),
        ("x.trace", like, "new", "saved trace, not a model"),
        ("like.safetensors", like, "new", "opens as it is"),
        ("x.pt", folder, "new", "--like"),
        ("x.pt", like, "x.pt", "x.pt"),
        ("x.pt", like, "like.safetensors", "like.safetensors"),
    ]:
        paths = [str(tmp_path / weights), "--like", str(model), "--out", str(tmp_path / out)]
        assert main(["convert", *paths]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert message in error
        assert not (tmp_path / "new").exists()
