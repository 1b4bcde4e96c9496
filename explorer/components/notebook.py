"""Show a trace in a notebook's output cell, or else in the browser."""

import os
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path

from explorer.components.html_export import html_page
from explorer.core.i18n import say
from explorer.core.trace import Trace


def show(trace: Trace, *, language: str = "en", height: int = 760) -> None:
    """Show the stepping player for `trace`.

    In a notebook it appears under the cell, `height` pixels high, in a frame of its own; elsewhere
    it opens in the browser, or, without one, the path of its file is printed. If all cells are in
    one page, the first one that shows a trace loads plotly.js (0.7 MB) for the others.
    """
    if _in_notebook():
        from IPython.display import HTML, display

        display(HTML(cell_html(trace, language, height)))
        return
    html = html_page(trace, language)
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", delete=False) as file:
        file.write(html)
    if not webbrowser.open(Path(file.name).as_uri()):
        print(say("explore.no_browser", language, file=file.name))


def cell_html(trace: Trace, language: str = "en", height: int = 760) -> str:
    """The player in a frame, as the output of a cell."""
    return _frame(html_page(trace, language, with_plotly=_brings_plotly()), height)


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
