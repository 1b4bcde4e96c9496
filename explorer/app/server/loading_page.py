"""What a page shows until Streamlit has drawn its first element: after a start of the server that
takes seconds, in which the page would be blank.

It is part of the HTML page and not of the script, with the style sheet of all pages: Streamlit
loads the code that would add a style sheet later, and the frame would be drawn without it first.
"""

import html
from functools import cache
from pathlib import Path

from explorer.core.i18n import LANGUAGES, say

_STYLE = Path(__file__).parent.parent / "main.css"


@cache
def element() -> bytes:
    """The style sheet of all pages, and the words, in each language: which one the visitor reads
    is not known yet. At the end of the body, where the style sheet comes after Streamlit's."""
    words = "".join(
        f'<p lang="{language}">{html.escape(say("explore.loading", language))}</p>'
        for language in LANGUAGES
    )
    style = _STYLE.read_text("utf-8")
    return f'<style>{style}</style><div class="loading-page">{words}</div>'.encode()
