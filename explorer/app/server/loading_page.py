"""The page content until Streamlit has drawn its first element. After a start of the server that
takes seconds, the page would be blank otherwise.

Also the notice that the script of the components could not be loaded, which they show then.

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
    style = f"<style>{_STYLE.read_text('utf-8')}</style>"
    loading = f'<div class="loading-page">{_in_each_language("explore.loading")}</div>'
    missing = _in_each_language("explore.script_missing")
    notice = f'<div class="script-missing" role="alert" hidden>{missing}</div>'
    return f"{style}{loading}{notice}".encode()


def _in_each_language(sentence: str) -> str:
    return "".join(
        f'<p lang="{language}">{html.escape(say(sentence, language))}</p>' for language in LANGUAGES
    )
