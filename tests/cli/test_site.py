import pytest

from explorer.__main__ import main
from explorer.app import static_site


def test_the_named_models_are_written(tmp_path, monkeypatch, capsys):
    written = []

    def write(models, out, tell):
        written.extend(model.name for model in models)
        tell("index.html")
        return 3_000_000

    monkeypatch.setattr(static_site, "write_site", write)
    out = tmp_path / "site"
    assert main(["site", "--out", str(out), "--models", "copy", "reverse", "copy"]) == 0
    assert written == ["copy", "reverse"]
    assert "index.html: open it in a browser (3 MB in all)" in capsys.readouterr().out
    assert main(["site", "--out", str(out)]) == 0
    assert "english-french" in written


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--models", "nothing"], "reverse"), ([], "other files")],
)
def test_errors_are_one_sentence(options, message, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("")
    assert main(["site", "--out", str(tmp_path), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
