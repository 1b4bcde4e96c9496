from pathlib import Path

import pytest

from explorer.__main__ import main
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
    assert capsys.readouterr().out == f"{out}: 2 texts, 1 too long for the model left out\n"


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
        (checkpoint, texts, "@"),
    ):
        assert main(["translate", str(model), str(file), *out]) == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "out.tsv").exists()
