import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.model.beam_search import beam
from explorer.model.checkpoint import save_checkpoint


@pytest.fixture
def tiny(explorable, tmp_path) -> str:
    """The path of a checkpoint of the `explorable` model."""
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    return str(tmp_path / "tiny.safetensors")


def test_the_outputs_are_printed_the_best_first(tiny, explorable, capsys):
    options = ["--width", "3", "--max-new-tokens", "4", "--length-penalty", "0.5"]
    assert main(["beam", tiny, "1 2", *options]) == 0
    rows = capsys.readouterr().out.splitlines()
    found = beam(explorable, "1 2", width=3, max_new_tokens=4, length_penalty=0.5)
    assert rows[0].split() == ["score", "sum", "fate", "text"]
    assert [row.split()[:2] for row in rows[1:]] == [
        [f"{found.score(node):.4f}", f"{node.sum:.4f}"] for node in found.outputs
    ]
    assert rows[1].endswith(found.best.text)


def test_the_whole_tree_is_written_as_a_table(tiny, explorable, tmp_path, capsys):
    out = tmp_path / "tree.csv"
    assert main(["beam", tiny, "1 2", "--out", str(out)]) == 0
    found = beam(explorable, "1 2")
    assert f"{len(found.nodes)} nodes, best: {found.best.text}" in capsys.readouterr().out
    table = pd.read_csv(out)
    assert list(table.columns) == ["number", *found.table.columns]
    assert table.parent.fillna(-1).astype(int).tolist() == [
        -1 if node.parent is None else node.parent for node in found.nodes
    ]


def test_the_model_is_not_written_over(tiny, capsys):
    assert main(["beam", tiny, "1 2", "--out", tiny]) == 2
    assert main(["beam", tiny, "1 2", "--width", "0"]) == 2
    assert "whole number" in capsys.readouterr().err
    assert main(["beam", tiny, "1 2", "--width", "101"]) == 2
    assert "The width is 101; it goes up to 100" in capsys.readouterr().err


def test_a_table_has_the_ending_of_a_table(tiny, tmp_path, capsys):
    assert main(["beam", tiny, "1 2", "--out", str(tmp_path / "tree.json")]) == 2
    assert "“tree.json” should end in .csv" in capsys.readouterr().err
    assert not (tmp_path / "tree.json").exists()
