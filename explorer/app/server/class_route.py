"""The routes of a class together, in class mode alone: an event stream to each page, the host's
screen, votes, and a code to scan.

Steps, heads and votes reach the pages by server-sent events, not by runs of the script. Only the
host's cookie may publish; a guest is known by a cookie that no script can read.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from explorer.app.server import access, class_messages
from explorer.app.server.class_session import MOST_GUESTS, ClassSession, Seat
from explorer.app.server.rate_limit import RateLimiter, address_of

EVENTS_PATH = "/class/events"
SCREEN_PATH = "/class/screen"
LEAD_PATH = "/class/lead"
VOTE_PATH = "/class/vote"
CODE_PATH = "/class/code"

HEARTBEAT = 10.0
"""Seconds after which a stream without news sends a sign of life. With it the operating system
notices that a browser is gone, and a page notices that the server is gone."""

PAUSE = 0.05
"""Seconds between two messages of a stream: many votes at once are one message."""

GRACE = 8.0
"""Seconds after the end of the host's last stream until guests go on alone: a reloaded page is back
by then."""

SLOWEST = 3.0
"""Seconds within which the body of a request must arrive; a stopping server waits for it."""

VOTE_RATE, MOST_VOTES = 1.0, 8.0
"""Votes a second of one guest, and how many at once."""

session = ClassSession()
"""The class of this server."""

_votes = RateLimiter(owners=MOST_GUESTS)
_Content = TypeVar("_Content")


def routes(base: str) -> list[Route]:
    """The routes below the URL path `base`; none outside of class mode."""
    if not access.is_class_mode():
        return []
    return [
        Route(f"{base}{EVENTS_PATH}", open_stream, methods=["GET"]),
        Route(f"{base}{SCREEN_PATH}", take_screen, methods=["POST"]),
        Route(f"{base}{LEAD_PATH}", take_lead, methods=["POST"]),
        Route(f"{base}{VOTE_PATH}", take_vote, methods=["POST"]),
        Route(f"{base}{CODE_PATH}", make_code, methods=["POST"]),
    ]


async def open_stream(request: Request) -> Response:
    """The current state of the class, and each change of it. 503 with too many streams open."""
    address = address_of(request)
    if not session.has_room(address):
        return _answer(503, {"Retry-After": "5"})
    try:
        page = class_messages.read_page(request.query_params.get("page", ""))
    except ValueError:
        return _answer(400)
    guest = session.admit(request.cookies.get(_guest_cookie(), ""))
    headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
    changed = asyncio.Event()
    stream = _events(Seat(guest, address, _is_host(request), changed.set, page), changed)
    response = StreamingResponse(stream, media_type="text/event-stream", headers=headers)
    response.set_cookie(
        _guest_cookie(),
        guest,
        path=request.url.path.removesuffix(EVENTS_PATH) or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response


async def take_screen(request: Request) -> Response:
    """Publish the host's screen. 403 for anybody else, 409 while another tab leads."""
    if not _is_host(request):
        return _answer(403)
    screen = await _content(request, class_messages.LARGEST_SCREEN, class_messages.read_screen)
    if isinstance(screen, Response):
        return screen
    if session.is_led_elsewhere(screen.page):
        return _answer(409)
    session.show(screen)
    return _answer(204)


async def take_lead(request: Request) -> Response:
    """Let another tab of the host lead; 403 for anybody else."""
    if not _is_host(request):
        return _answer(403)
    page = await _content(request, class_messages.LARGEST_VOTE, class_messages.read_leader)
    if isinstance(page, Response):
        return page
    session.lead(page)
    return _answer(204)


async def take_vote(request: Request) -> Response:
    """Take a guest's vote. 409 if it does not count, 429 with too many votes."""
    guest = request.cookies.get(_guest_cookie(), "")
    owner, limits = {guest: 1.0}, (VOTE_RATE, MOST_VOTES)
    if not _votes.allows(owner, *limits):
        return _answer(429)
    _votes.charge(owner, 1.0, *limits)
    vote = await _content(request, class_messages.LARGEST_VOTE, class_messages.read_vote)
    if isinstance(vote, Response):
        return vote
    return _answer(204 if session.vote(guest, *vote) else 409)


async def make_code(request: Request) -> Response:
    """An address of this app as a code to scan, for the host."""
    if not _is_host(request):
        return _answer(403)
    limit = 4 * class_messages.LONGEST_ADDRESS
    address = await _content(request, limit, class_messages.read_address, kind="text/plain")
    if isinstance(address, Response):
        return address
    code = await run_in_threadpool(access.qr_code_image, address)
    return Response(code, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def _events(seat: Seat, changed: asyncio.Event) -> AsyncIterator[str]:
    """The messages of one stream, until its browser or the server ends it.

    changed: set whenever the message has changed.
    """
    session.join(seat)
    try:
        while not session.ended:
            changed.clear()
            yield f"data: {json.dumps(session.message(seat), ensure_ascii=False)}\n\n"
            await asyncio.sleep(PAUSE)
            while not changed.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), HEARTBEAT)
                    continue
                yield "event: beat\ndata: 1\n\n"
    finally:
        session.leave(seat)
        if seat.host:
            asyncio.get_running_loop().call_later(GRACE, session.miss, seat)


async def _content(
    request: Request,
    largest: int,
    read: Callable[[bytes], _Content],
    kind: str = "application/json",
) -> _Content | Response:
    """The parsed body of a request, or a refusal if it is too large, malformed or of another media
    type, which a form of another page could send."""
    if request.headers.get("content-type", "").split(";")[0].strip() != kind:
        return _answer(415)
    body = b""
    try:
        async with asyncio.timeout(SLOWEST):
            async for part in request.stream():
                body += part
                if len(body) > largest:
                    return _answer(413)
        return read(body)
    except TimeoutError:
        return _answer(408, {"Connection": "close"})
    except ValueError:
        return _answer(400)


def _is_host(request: Request) -> bool:
    return access.is_host(request)


def _guest_cookie() -> str:
    return access.cookie_name().replace("host", "guest")


def _answer(status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(status_code=status, headers={"Cache-Control": "no-store", **(headers or {})})
