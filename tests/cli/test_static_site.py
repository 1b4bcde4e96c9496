import pytest

from explorer.__main__ import main
from explorer.app import static_site
from explorer.core import folders


def test_the_named_models_are_written(tmp_path, monkeypatch, capsys):
    written = []

    def write(models, out, tell):
        written.extend(model.name for model in models)
        tell("index.html")
        return 3_000_000

    monkeypatch.setattr(static_site, "write_static_site", write)
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


@pytest.mark.parametrize("options", [[], ["--models", "copy"]])
@pytest.mark.parametrize("folder", ["empty", "missing"])
def test_without_any_model_nothing_is_written(options, folder, tmp_path, monkeypatch, capsys):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path / folder))
    out = tmp_path / "site"
    assert main(["site", "--out", str(out), *options]) == 2
    assert f"the folder “{tmp_path / folder}” has no checkpoints" in capsys.readouterr().err
    assert not out.exists()


def test_an_output_that_is_no_folder_of_a_static_site_is_named(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "a.txt").write_text("")
    monkeypatch.chdir(folder)
    for out, sentence in (("a.txt", "“a.txt” is a file;"), ("", "folder “own” has other files;")):
        assert main(["site", "--out", out]) == 2
        assert sentence in capsys.readouterr().err
