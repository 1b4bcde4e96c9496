"""What guests of a class get: the static site, from memory, made once when the server starts.

A guest's browser computes for itself. The pages carry `data-class` with the base path of the
server, from which their scripts know that they belong to a class.
"""

import asyncio
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from explorer.app.server.guest_files import File
from explorer.app.server.large_answer import LargeAnswer
from explorer.app.server.sentence import language_of, sentence
from explorer.app.server.static_files import MAX_AGE
from explorer.components.static_site_files import FIRST_PAGE
from explorer.core.i18n import LANGUAGES

PATIENCE = 60.0
"""Seconds for which a request waits for a file that is being made."""

_PAUSE = 0.1  # seconds between two looks for it

_PAGES = frozenset({"", FIRST_PAGE, "explore", "heads"})
"""Paths that show the first page: its own, and those of links to the host's pages."""

_TRAINING = "train"


class GuestSite:
    """The files by their path in the site. They are added by a thread of its own."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}
        self._complete = False

    def fill(self, files: Iterable[tuple[str, File]]) -> None:
        """Add all files; requests for others then wait no longer."""
        try:
            self.add(files)
        finally:
            self._complete = True

    def add(self, files: Iterable[tuple[str, File]]) -> None:
        """Add files, each in the place of an earlier one of its name."""
        for name, file in files:
            self._files[name] = file

    async def answer(self, request: Request, path: str) -> Response | None:
        """The answer to a request for `path`, below the base path; None if the site lacks it."""
        if request.method not in ("GET", "HEAD"):
            return None
        name = path.removeprefix("/")
        if (elsewhere := await self._other_address(request, name)) is not None:
            return RedirectResponse(elsewhere, 302, {"Cache-Control": "no-store"})
        name = name or FIRST_PAGE
        file = await self._made(name)
        if file is not None:
            return _response(request, file)
        if name == FIRST_PAGE or not self._complete:
            return sentence(503, "classroom.no_guest_page", request.headers)
        return None

    async def _other_address(self, request: Request, name: str) -> str | None:
        """The address, relative to that of the request, under which the site has what a link to the
        app asks for; None for the site's own addresses.

        The site has in its fragment what the app has in its query, and each lesson as a page.
        """
        language = _language(request)
        if name == _TRAINING:
            return f"training.{language}.html"
        if name not in _PAGES:
            return None
        if lesson := request.query_params.get("lesson"):
            page = f"lessons/{lesson}.{language}.html"
            if await self._made(page) is not None:
                card = request.query_params.get("card", "")
                return f"{page}#card={card}" if card.isascii() and card.isdigit() else page
        query = request.url.query
        return f"./#{query}" if query or name not in ("", FIRST_PAGE) else None

    async def _made(self, name: str) -> File | None:
        """A file, once it is made; None if the site has none of that name."""
        loop = asyncio.get_running_loop()
        due = loop.time() + PATIENCE
        while name not in self._files and not self._complete and loop.time() < due:
            await asyncio.sleep(_PAUSE)
        return self._files.get(name)


site = GuestSite()
"""The site of this server."""


def _language(request: Request) -> str:
    named = request.query_params.get("lang", "")
    return named if named in LANGUAGES else language_of(request.headers)


def _response(request: Request, file: File) -> Response:
    """The file, compressed, which every browser reads; 304 when its copy is current.

    The addresses of scripts, styles and models carry their version; pages are asked for anew.
    """
    fixed = request.url.query and file.media_type != "text/html"
    headers = {
        "Cache-Control": f"public, max-age={MAX_AGE}" if fixed else "no-cache",
        "ETag": file.etag,
        "Vary": "Cookie",  # the host has the app at the same address
    }
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    headers |= {"Content-Encoding": "gzip"}
    return LargeAnswer(file.data, media_type=file.media_type, headers=headers)
