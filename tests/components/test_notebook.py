import re
import sys
import warnings
import webbrowser
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import pytest

import explorer
from explorer.components import notebook
from explorer.components.html_export import html_page
from explorer.components.notebook import selection_in
from explorer.components.player.payload import View
from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.model.huggingface.opening.wrapping import wrapped
from tests.support.huggingface_families import tiny_model


@pytest.fixture
def trace() -> Trace:
    return Trace.from_arrays(("a",), ("<bos>",), cross=np.ones((1, 1, 1, 1), np.float32))


def test_outside_a_notebook_the_page_opens_in_the_browser(trace, monkeypatch, capsys):
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    explorer.show(trace)
    file = Path(url2pathname(urlparse(opened[0]).path))
    assert file.read_text(encoding="utf-8") == html_page(trace)
    file.unlink()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("language", "words"), [("en", "No browser"), ("zh", "无法打开浏览器")])
def test_without_a_browser_the_path_of_the_page_is_printed(
    language, words, trace, monkeypatch, capsys
):
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    explorer.show(trace, language=language)
    printed = capsys.readouterr().out.strip()
    assert printed.startswith(words)
    file = Path(printed.rpartition(" ")[2])  # the last word, so that a terminal can open it
    assert file.read_text(encoding="utf-8") == html_page(trace, language)
    file.unlink()


@pytest.fixture
def wide() -> Trace:
    """Two layers of three heads, of two sites; four queries in the decoder, five keys in cross."""
    decoder, cross = np.ones((1, 1, 4, 4)) / 4, np.ones((2, 3, 4, 5)) / 5
    return Trace.from_arrays(("a",) * 5, ("b",) * 4, decoder=decoder, cross=cross)


def test_the_page_opens_where_it_is_told_to(wide, monkeypatch):
    pages: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: pages.append(url) or True)
    explorer.show(wide, site="cross", layer=np.int64(1), head=2, step=3)
    file = Path(url2pathname(urlparse(pages[0]).path))
    view = View(site="cross", layer=1, head=2, step=3)
    assert file.read_text(encoding="utf-8") == html_page(wide, view=view)
    file.unlink()


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ({"site": "encoder"}, "no “encoder” attention; it has decoder, cross"),
        ({"site": 5}, "no “5” attention"),
        (
            {"site": "decoder", "layer": 1},
            "no head decoder.1.0: in “decoder” this model has 1 layer",
        ),
        ({"head": 3}, "no head cross.0.3: .* 2 layers of 3 heads, counted from 0"),
        ({"layer": "1"}, "layer is '1'; it has to be a whole number"),
        ({"head": True}, "head is True"),
        ({"step": 0}, "no step 0 .* steps 1–4"),
        ({"step": 5}, "no step 5"),
        ({"step": True}, "no step True"),
        ({"step": [1]}, r"no step \[1\]"),
    ],
)
def test_what_a_trace_does_not_have_is_refused_in_a_sentence(place, sentence, wide, run_cell):
    with pytest.raises(TraceError, match=sentence):
        run_cell(wide, **place)


@pytest.mark.parametrize("cell", [(4, 0), (0, 5), (0,), (0, -1), 5, "ab", (0.5, 1)])
def test_a_cell_outside_the_map_is_refused(cell, wide):
    with pytest.raises(TraceError, match="of 4 queries and 5 keys"):
        selection_in(wide, "cross", 0, 0, None, cell)
    assert selection_in(wide, "cross", 0, 0, None, [3, np.int8(4)]).cell == (3, 4)


def test_the_steps_of_an_encoder_alone_are_those_of_its_mask_tokens():
    trace = wrapped(tiny_model("bert"), None, "bert").trace("5 17 8")
    with pytest.raises(TraceError, match=r"has the steps \[\]"):
        selection_in(trace, None, None, None, 1)


def html(data: str) -> str:
    """`IPython.display.HTML`, which prints a warning, in red, under the cell."""
    if data[:10].lower().startswith("<iframe ") and data[-10:].lower().endswith("</iframe>"):
        warnings.warn("Consider using IPython.display.IFrame instead", stacklevel=2)
    return data


@pytest.fixture
def run_cell(monkeypatch) -> Callable[..., str]:
    """Show a trace in a cell of a notebook; the output of the cell."""
    shown: list[str] = []
    shell = SimpleNamespace(kernel=object(), parent_header={})
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell
    display.HTML, display.display = html, shown.append
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(notebook, "_bringing", [])
    monkeypatch.delenv("VSCODE_PID", raising=False)

    def run(trace: Trace, cell: str | None = None, **options: Any) -> str:
        shell.parent_header = {"metadata": {"cellId": cell}} if cell else {}
        explorer.show(trace, **options)
        return shown[-1]

    return run


def test_in_a_notebook_the_page_appears_in_a_frame_of_its_own(trace, run_cell):
    found = re.fullmatch(
        r'<div><iframe srcdoc="([^"]*)" style="[^"]*height: 500px[^"]*"></iframe></div>',
        run_cell(trace, language="zh", height=500),
    )
    assert found is not None
    assert unescape(found[1]) == html_page(trace, "zh")


def test_a_cell_prints_no_warning(trace, run_cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_cell(trace)


def sizes(run_cell: Callable[..., str], trace: Trace) -> list[bool]:
    """Which of four runs of three cells bring plotly.js."""
    return [len(run_cell(trace, cell)) > 600_000 for cell in ("a", "b", "c", "a")]


def test_cells_of_one_page_share_plotly_and_isolated_ones_bring_their_own(
    trace, run_cell, monkeypatch
):
    assert sizes(run_cell, trace) == [True, False, False, True]
    monkeypatch.setenv("VSCODE_PID", "1")
    assert sizes(run_cell, trace) == [True] * 4


def test_a_front_end_that_names_no_cells_gets_it_each_time(trace, run_cell):
    assert [len(run_cell(trace)) > 600_000 for _ in range(2)] == [True, True]
