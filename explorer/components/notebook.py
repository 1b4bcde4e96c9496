"""Show a trace in a notebook's output cell, or else in the browser."""

import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path

from explorer.components.html_export import html_page
from explorer.core.trace import Trace


def show(trace: Trace, *, language: str = "en", height: int = 760) -> None:
    """Show the stepping player for `trace`.

    In a notebook it appears under the cell, `height` pixels high, in a frame of its own;
    elsewhere it opens in the browser.
    """
    html = html_page(trace, language)
    if _in_notebook():
        from IPython.display import HTML, display

        display(HTML(_frame(html, height)))
        return
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", delete=False) as file:
        file.write(html)
    webbrowser.open(Path(file.name).as_uri())


def _frame(html: str, height: int) -> str:
    style = f"width: 100%; height: {int(height)}px; border: 0"
    return f'<iframe srcdoc="{escape(html)}" style="{style}"></iframe>'


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")
