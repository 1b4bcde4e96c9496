"""What a notebook gets of a figure, and images by a stand-in of kaleido."""

import subprocess
import sys
from pathlib import Path

import pytest

import explorer
from explorer.components.table_figure import TableFigure
from explorer.core.errors import FileError
from tests.support.example_traces import example_trace

ROOT = Path(__file__).parents[2]

STAND_IN = """
import json
from kaleido.errors import ChromeNotFoundError

def calc_fig_sync(figure, opts, **_):
    if opts["format"] == "png":
        raise ChromeNotFoundError()
    return json.dumps([opts["format"], figure["layout"]["title"]["text"]]).encode()
"""

DRAW = """
import sys, explorer
from tests.support.example_traces import example_trace
drawn = explorer.figure(example_trace(), "cross", 1, 3)
try:
    drawn.write_image(sys.argv[1])
except explorer.ExplorerError as error:
    print(error)
"""


@pytest.fixture
def draw(tmp_path):
    """Write an image in a process that has the stand-in: what it prints."""
    package, facts = tmp_path / "kaleido", tmp_path / "kaleido-1.0.0.dist-info"
    package.mkdir()
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: kaleido\nVersion: 1.0.0\n")
    (package / "errors.py").write_text("class ChromeNotFoundError(Exception): pass\n")
    (package / "__init__.py").write_text(STAND_IN)

    def run(file):
        path = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""}
        command = [sys.executable, "-c", DRAW, str(file)]
        return subprocess.run(command, env=path, capture_output=True, text=True, check=True).stdout

    return run


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_an_image_is_what_kaleido_makes_of_the_figure(draw, tmp_path, kind):
    file = tmp_path / f"head.{kind}"
    assert draw(file) == ""
    assert file.read_text() == f'["{kind}", "cross attention, L1 H3"]'


def test_without_chrome_one_sentence_names_both_and_no_file_is_left(draw, tmp_path):
    file = tmp_path / "head.png"
    said = draw(file)
    assert "kaleido (pip install kaleido) and the browser Chrome" in said
    assert "pip install kaleido" in said
    assert not file.exists()


def test_without_kaleido_one_sentence_names_both(monkeypatch, tmp_path):
    monkeypatch.setattr("explorer.components.table_figure.find_spec", lambda _: None)
    drawn = explorer.figure(example_trace(), "cross", 1, 3)
    for write in (lambda: drawn.write_image(tmp_path / "head.pdf"), lambda: drawn.to_image("pdf")):
        with pytest.raises(FileError, match=r"kaleido .* and the browser Chrome"):
            write()


def test_a_viewer_without_plotly_gets_the_numbers_as_a_table(monkeypatch):
    trace = example_trace(("<b>", "3"))
    drawn = explorer.figure(trace, "cross", 1, 3)
    assert drawn._ipython_display_ is None  # which IPython would ask first
    html = drawn._repr_mimebundle_()["text/html"]
    assert html.startswith("<table")
    assert "<script" not in html
    assert "0 &lt;b&gt;" in html
    for weight in trace.attention("cross")[1, 3][trace.mask("cross")]:
        assert f"{weight:.6f}" in html
    monkeypatch.setattr("plotly.io.renderers.default", "plotly_mimetype+notebook")
    bundle = drawn._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html"}
    assert bundle["text/html"] == html
    monkeypatch.setattr("plotly.io.renderers.default", "colab")
    assert "<script" in drawn._repr_mimebundle_()["text/html"]


def test_a_copy_by_plotly_is_a_figure_without_a_table():
    assert TableFigure(explorer.figure(example_trace(), "cross")).table.empty
