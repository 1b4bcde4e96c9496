"""What writes the page of `Trace.to_html`: a layer above `core`, which `core` does not import.

`explorer/__init__.py` sets it, and that runs before any module of the package.
"""

from collections.abc import Callable
from typing import Any

html_page: Callable[[Any, str], str]
"""A trace, and the language of the page → HTML."""
