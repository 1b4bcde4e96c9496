"""The routes of a class together, in class mode alone: an event stream to each page, the host's
screen, votes, the curves of trainings, and a code to scan.

Steps, heads and votes reach the pages by server-sent events, not by runs of the script. Only the
host's cookie may publish; a guest is known by a cookie that no script can read.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from explorer.app.server import access, class_messages, guest_limits
from explorer.app.server.class_session import MOST_GUESTS, ClassSession, Seat
from explorer.app.server.class_streams import Pulse, events
from explorer.app.server.rate_limit import RateLimiter, address_of, network_of
from explorer.app.server.static_files import Application, Message, Receive, Send

EVENTS_PATH = "/class/events"
SCREEN_PATH = "/class/screen"
LEAD_PATH = "/class/lead"
VOTE_PATH = "/class/vote"
CURVE_PATH = "/class/curve"
CODE_PATH = "/class/code"

SLOWEST = 3.0
"""Seconds within which the body of a request must arrive; a stopping server waits for it."""

VOTE_RATE, MOST_VOTES = 1.0, 8.0
"""Votes a second of one guest, and how many at once."""

CURVE_RATE, MOST_MESSAGES = 75.0, 300.0
"""Messages on curves that one network address sends a second, and at once: 150 pages send one every
two seconds. A factor of `guest_limits` raises both."""

OPENING_RATE, MOST_OPENINGS = 15.0, 300.0
"""Streams that one network address opens a second, and at once: thirty pages behind one address may
open theirs every two seconds. A factor of `guest_limits` raises both."""

pulse = Pulse()
session = ClassSession(pulse.soon)
"""The class of this server, and when its streams send."""

_votes = RateLimiter(owners=MOST_GUESTS)
_curves = RateLimiter(owners=MOST_GUESTS)
_openings = RateLimiter(owners=MOST_GUESTS)
_Content = TypeVar("_Content")


def routes(base: str) -> list[Route]:
    """The routes below the URL path `base`, except that of `EventStreams`."""
    return [
        Route(f"{base}{SCREEN_PATH}", take_screen, methods=["POST"]),
        Route(f"{base}{LEAD_PATH}", take_lead, methods=["POST"]),
        Route(f"{base}{VOTE_PATH}", take_vote, methods=["POST"]),
        Route(f"{base}{CURVE_PATH}", take_curve, methods=["POST"]),
        Route(f"{base}{CODE_PATH}", make_code, methods=["POST"]),
    ]


class EventStreams:
    """ASGI middleware: the event streams, in front of Streamlit's own middleware, through which
    each message to each guest would pass: a tenth of the time of a step.

    base: the URL path the app is served under, "" or "/…".
    """

    def __init__(self, app: Application, base: str = "") -> None:
        self.app = app
        self.path = f"{base}{EVENTS_PATH}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        wanted = scope["type"] == "http" and (scope["method"], scope["path"]) == ("GET", self.path)
        answer = await open_stream(Request(scope)) if wanted else self.app
        await answer(scope, receive, send)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """A block in which a signal that stops the server also ends the event streams: uvicorn waits
    for all answers before it tells the app. Called in the event loop, after uvicorn has set its
    own handlers."""
    if threading.current_thread() is not threading.main_thread():  # which alone hears signals
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(session.end)
        if callable(stop := before[signal.Signals(number)]):
            stop(number, frame)

    handled = [number for number, stop in before.items() if callable(stop)]
    for number in handled:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


async def open_stream(request: Request) -> Response:
    """The current state of the class, and each change of it. 503 with too many streams open, 429
    for an address that has opened too many of late; the host is never refused."""
    address, host = address_of(request), _is_host(request)
    try:
        page = class_messages.read_page(request.query_params.get("page", ""))
    except ValueError:
        return _answer(400)
    if not session.has_room(address, host):
        return _answer(503, {"Retry-After": "5"})
    if not (host or _take_of(_openings, address, OPENING_RATE, MOST_OPENINGS)):
        return _answer(429, {"Retry-After": "5"})
    guest = session.admit(request.cookies.get(_guest_cookie(), ""))
    headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
    stream = events(session, pulse, Seat(guest, address, host, page))
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
    if not session.knows(guest):
        return _answer(409)
    if not _take(_votes, guest, VOTE_RATE, MOST_VOTES):
        return _answer(429)
    vote = await _content(request, class_messages.LARGEST_VOTE, class_messages.read_vote)
    if isinstance(vote, Response):
        return vote
    return _answer(204 if session.vote(guest, *vote) else 409)


async def take_curve(request: Request) -> Response:
    """Take the curve of a guest's training; 429 with too many of them. The page that trains has no
    stream, and perhaps no cookie."""
    address = address_of(request)
    if not _take_of(_curves, address, CURVE_RATE, MOST_MESSAGES):
        return _answer(429)
    shared = await _content(request, class_messages.LARGEST_CURVE, class_messages.read_curve)
    if isinstance(shared, Response):
        return shared
    session.share(*shared, address)
    return _answer(204)


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


def _take_of(limiter: RateLimiter, address: str, rate: float, most: float) -> bool:
    """As `_take`, for the network of an address, which may have more guests by a setting."""
    factor = guest_limits.factor()
    return _take(limiter, network_of(address), rate * factor, most * factor)


def _take(limiter: RateLimiter, owner: str, rate: float, most: float) -> bool:
    """Whether `owner` may do one more of what is limited, which is then counted."""
    allowed = limiter.allows({owner: 1.0}, rate, most)
    if allowed:
        limiter.charge({owner: 1.0}, 1.0, rate, most)
    return allowed


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
