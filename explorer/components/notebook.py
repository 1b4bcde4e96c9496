"""Show a trace in a notebook's output cell, or else in the browser."""

import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from html import escape
from numbers import Integral
from pathlib import Path

from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.core.errors import TraceError
from explorer.core.i18n import say
from explorer.core.look import Selection, shown_steps
from explorer.core.trace import Trace, check_trace, is_index, refuse_no_number


def show(
    trace: Trace,
    *,
    site: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    step: int | None = None,
    language: str = "en",
    height: int = 760,
) -> None:
    """Show the stepping player for `trace`.

    site, layer, head, step: where it opens, layers and heads from 0, steps from 1; None = as the
        player chooses. With a layer but no head, at the mean of the layer.

    In a notebook it appears under the cell, `height` pixels high, in a frame of its own; elsewhere
    it opens in the browser, or, without one, the path of its file is printed. If all cells are in
    one page, the first one that shows a trace loads plotly.js (0.7 MB) for the others.

    Raises `TraceError` on what the trace does not have.
    """
    seen = selection_in(trace, site, layer, head, step)
    view = View(seen.site, seen.layer, seen.head, seen.step)
    if _in_notebook():
        from IPython.display import HTML, display

        display(HTML(cell_html(trace, language, height, view)))
        return
    html = html_page(trace, language, view)
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", delete=False) as file:
        file.write(html)
    if not webbrowser.open(Path(file.name).as_uri()):
        print(say("explore.no_browser", language, file=file.name))


def selection_in(
    trace: Trace,
    site: str | None,
    layer: int | None,
    head: int | None,
    step: int | None,
    cell: Sequence[int] | None = None,
) -> Selection:
    """What is named of `trace`; None stays. Raises `TraceError` on what it does not have."""
    check_trace(trace)
    at = trace.sites[-1] if site is None else site
    layers, heads, queries, keys = trace.attention(at).shape
    place = {"layer": 0 if layer is None else layer, "head": 0 if head is None else head}
    if not (is_index(place["layer"], layers) and is_index(place["head"], heads)):
        refuse_no_number(TraceError, **place)
        name = f"{at}.{place['layer']}.{place['head']}"
        raise TraceError("no_such_head", head=name, site=at, layers=layers, heads=heads)
    steps = shown_steps(trace)
    whole = isinstance(step, Integral) and not isinstance(step, bool)
    if step is not None and not (whole and step in steps):
        listed = f"1–{len(steps)}" if isinstance(steps, range) else sorted(steps)
        raise TraceError("no_step", got=repr(step), steps=listed)
    if cell is not None and not _is_cell(cell, queries, keys):
        raise TraceError("no_cell", got=repr(cell), site=at, queries=queries, keys=keys)
    pair = None if cell is None else (int(cell[0]), int(cell[1]))
    return Selection(site, _plain(layer), _plain(head), _plain(step), cell=pair)


def _plain(number: int | None) -> int | None:
    """Also of NumPy, whose numbers no message of a widget can hold."""
    return None if number is None else int(number)


def _is_cell(cell: object, queries: int, keys: int) -> bool:
    if not isinstance(cell, Sequence) or len(cell) != 2:
        return False
    return is_index(cell[0], queries) and is_index(cell[1], keys)


def cell_html(
    trace: Trace, language: str = "en", height: int = 760, view: View | None = None
) -> str:
    """The player in a frame, as the output of a cell."""
    return _frame(html_page(trace, language, view, with_plotly=_brings_plotly()), height)


def _frame(html: str, height: int) -> str:
    style = f"width: 100%; height: {int(height)}px; border: 0"
    # IPython warns of HTML that is a frame alone; its own class for frames has no `srcdoc`.
    return f'<div><iframe srcdoc="{escape(html)}" style="{style}"></iframe></div>'


_bringing: list[str] = []
"""The cell that loads plotly.js for all others; empty before the first trace is shown."""


def _brings_plotly() -> bool:
    """Whether the running cell loads plotly.js. It does if the front end isolates outputs or does
    not name cells. Otherwise only the first cell that shows a trace does, each time it runs."""
    cell = _cell()
    if cell is None or "VSCODE_PID" in os.environ or "google.colab" in sys.modules:
        return True
    if not _bringing:
        _bringing.append(cell)
    return _bringing == [cell]


def _cell() -> str | None:
    """The id that the front end gives the running cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    header = getattr(shell, "parent_header", None) or {}
    cell = header.get("metadata", {}).get("cellId")
    return str(cell) if cell else None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")
