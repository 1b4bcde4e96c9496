"""The function that writes the page of `Trace.to_html`. It is in `components`, above `core`.

`explorer/__init__.py` sets it; that file runs before any module of the package.
"""

from collections.abc import Callable
from typing import Any

html_page: Callable[[Any, str], str]
"""(trace, language of the page) → HTML."""
