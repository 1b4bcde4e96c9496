"""The page content until Streamlit has drawn its first element. After a start of the server that
takes seconds, the page would be blank otherwise.

It is part of the HTML page, not of the script, and so is the style sheet of all pages: Streamlit
would load a style sheet too late and first draw the frame without it.
"""

import html
from functools import cache
from pathlib import Path

from explorer.core.i18n import LANGUAGES, say

_STYLE = Path(__file__).parent.parent / "main.css"


@cache
def element() -> bytes:
    """The style sheet of all pages, and the words in each language, since the visitor's language is
    not known yet. It is put at the end of the body, where the style sheet comes after
    Streamlit's."""
    words = "".join(
        f'<p lang="{language}">{html.escape(say("explore.loading", language))}</p>'
        for language in LANGUAGES
    )
    style = _STYLE.read_text("utf-8")
    return f'<style>{style}</style><div class="loading-page">{words}</div>'.encode()
