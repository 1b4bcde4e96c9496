"""The functions that show a trace as HTML. They are in `components`, above `core`.

`explorer/__init__.py` sets them; that file runs before any module of the package.
"""

from collections.abc import Callable
from typing import Any

html_page: Callable[[Any, str], str]
"""(trace, language of the page) → HTML."""

cell_html: Callable[[Any], str]
"""trace → HTML of the player in a frame, for a cell of a notebook."""
