import json

import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.core import folders
from explorer.core.i18n import say
from explorer.heads.search.attention_index import COLUMNS, open_index
from explorer.model.checkpoint import save_checkpoint


@pytest.fixture
def tiny(explorable, tmp_path, monkeypatch):
    """The path of a checkpoint of the `explorable` model, and a folder of reports of its own."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path / "findings"))
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    return str(tmp_path / "tiny.safetensors")


def test_the_index_is_built_once_and_searched(tiny, tmp_path, capsys):
    texts = tmp_path / "texts.txt"
    texts.write_text("1 2\n3 甲 1\n1 2\n2\n", "utf-8")
    progress = tmp_path / "progress"
    command = ["search", tiny, "--texts", str(texts), "--head", "encoder.0.1", "--key", "1"]
    assert main([*command, "--progress", str(progress)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split() == ["weight", "query_token", "key_token", "source", "target"]
    assert len(rows) == 3
    assert progress.read_text() == "1.000"
    (written,) = (tmp_path / "findings").rglob("*.safetensors")
    before = written.stat().st_mtime_ns
    out = tmp_path / "x.csv"
    assert main([*command, "--top", "1", "--out", str(out)]) == 0
    assert "x.csv: encoder.0.1 (sentences: 1 of 3)" in capsys.readouterr().out
    assert written.stat().st_mtime_ns == before
    assert tuple(pd.read_csv(out).columns) == COLUMNS
    assert main([*command, "--offset", "-1", "--out", str(tmp_path / "x.json")]) == 0
    found = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert all(row["key"] - row["query"] == -1 for row in found)


def test_an_index_alone_in_a_file_of_its_own(tiny, tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("1 2\t2 1\n3\t3\n2\t甲\n", "utf-8")
    path = tmp_path / "pairs.index"
    command = ["search", tiny, "--pairs", str(pairs), "--index", str(path)]
    assert main([*command, "--sentences", "2"]) == 0
    assert "pairs.index: heads: 15, sentences: 2" in capsys.readouterr().out
    assert open_index(path).facts["targets"] == ["2 1", "3"]
    small = tmp_path / "small.index"
    assert main([*command[:-1], str(small), "--least", "0.1"]) == 0
    assert open_index(small).least == 0.1
    assert main(command) == 2
    assert "of other texts" in capsys.readouterr().err
    assert not (tmp_path / "findings").exists()


def test_a_toy_task_has_sentences_of_its_own(tiny, capsys):
    assert main(["search", tiny, "--head", "cross.1.2", "--part", "end", "--top", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_no_answer_is_said_in_a_sentence(tiny, capsys):
    assert main(["search", tiny, "--head", "cross.1.2", "--offset", "500"]) == 0
    said = say("heads.search_nothing", least="0.002")
    assert capsys.readouterr().out.startswith(said)


def test_what_cannot_be_asked_is_said_in_one_sentence(tiny, tmp_path, capsys):
    command = ["search", tiny, "--head", "cross.1.2"]
    for more, said in (
        (["--part", "middle"], "choose one of end, special"),
        (["--key", "9"], "No source has the token “9”."),
        (["--query", "9"], "No output has the token “9”."),
        (["--top", "0"], "top is 0"),
        (["--sentences", "0"], "--sentences is 0"),
        (["--out", str(tmp_path / "x.txt")], "should end in .csv"),
        (["--texts", "a", "--pairs", "b"], "--texts"),
        (["--least", "0.1"], "--least applies only with --index"),
        (["--least", "nan", "--index", "x.index"], "--least is nan"),
    ):
        assert main([*command, *more]) == 2, more
        assert said in capsys.readouterr().err
    assert main(["search", tiny, "--head", "cross.9"]) == 2
    assert "write site.layer.head, counted from 0: its heads go from encoder.0.0" in (
        capsys.readouterr().err
    )
    assert main(["search", tiny, "--key", "1"]) == 2
    assert "--key applies only with --head" in capsys.readouterr().err
