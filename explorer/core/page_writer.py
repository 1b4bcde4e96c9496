"""Hook for the writer of the `Trace.to_html` page, which is in a layer that `core` does not import.

`explorer/__init__.py` sets it; that file runs before any module of the package.
"""

from collections.abc import Callable
from typing import Any

html_page: Callable[[Any, str], str]
"""(trace, language of the page) → HTML."""
