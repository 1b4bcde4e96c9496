"""The page on which the host enters: by the single-use link of the terminal, or with the key.

The link has its ticket in the fragment, which browsers send to no server and which the page removes
from the address. So a preview of the link, or a link of another page, changes nothing: the ticket
is used when the host presses the button.
"""

import html
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from explorer.app.server import host_cookie
from explorer.app.server.sentence import language_of
from explorer.core.i18n import html_language, say

PATH = "/host"

_PAGE = Path(__file__).with_suffix(".html")
_SENTENCES = (
    *("host_title", "host_about", "host_link_about", "host_enter"),
    *("key", "key_about", "host_with_key"),
)


def link(url: str, ticket: str) -> str:
    """The single-use link. url: of the app."""
    return f"{url}{PATH}#{ticket}"


async def serve(request: Request) -> Response:
    """The page, in the browser's language."""
    language = language_of(request.headers)
    words = {name: html.escape(say(f"classroom.{name}", language)) for name in _SENTENCES}
    page = _PAGE.read_text("utf-8").format(
        language=html_language(language),
        cookie=host_cookie.PATH.removeprefix("/"),
        ticket_header=host_cookie.TICKET_HEADER,
        key_header=host_cookie.KEY_HEADER,
        **words,
    )
    return HTMLResponse(page, headers={"Cache-Control": "no-store"})
