"""The limit on computing by the server, and who is charged for it: a token bucket, an allowance of
seconds that refills at a constant rate and is charged afterwards with the seconds used.

Pages, downloads and requests are charged to the network address; computing in a turn is charged to
the session and the address.
"""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from starlette.requests import Request

from explorer.app.server import access
from explorer.core.errors import ExplorerError

_VISITORS_PER_ADDRESS = 10
"""Visitors behind one network address that may each use their full allowance: a school often has
only one address. Together they have three quarters of the computing that `model_cache` allows at a
time."""

Owners = Mapping[str, float]
"""Names of those charged, each with a factor on the limits. Empty = nobody is charged."""


class RateLimitError(ExplorerError):
    """The visitor asks for more computing than the rate limit allows."""

    section: ClassVar[str] = "explore"


class RateLimiter:
    """Allowances by owner, shared by all threads of the server.

    owners: number of owners remembered, those seen last.
    """

    def __init__(self, owners: int) -> None:
        self._owners = owners
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # allowance, when read
        self._lock = threading.Lock()

    def allows(self, owners: Owners, rate: float, most: float) -> bool:
        """Whether all of `owners` have some allowance left.

        rate: seconds per second at which an allowance refills.
        most: seconds an allowance holds.
        """
        with self._lock:
            left = self._read(owners, rate, most)
        return all(seconds > 0 for seconds in left.values())

    def charge(self, owners: Owners, seconds: float, rate: float, most: float) -> None:
        """Take `seconds` from each of `owners`; see `allows`.

        No debt exceeds an allowance: an expensive computation costs a wait, not a ban.
        """
        with self._lock:
            now = time.monotonic()
            for owner, left in self._read(owners, rate, most).items():
                self._left[owner] = (max(left - seconds, -most * owners[owner]), now)
                self._left.move_to_end(owner)
            while len(self._left) > self._owners:
                self._left.popitem(last=False)

    def _read(self, owners: Owners, rate: float, most: float) -> dict[str, float]:
        """Seconds that each owner has left now."""
        now, found = time.monotonic(), {}
        for owner, factor in owners.items():
            left, since = self._left.get(owner, (most * factor, now))
            found[owner] = min(most * factor, left + (now - since) * rate * factor)
        return found


@dataclass(slots=True)
class _Turn:
    """Owners charged for a turn, and whether it was admitted to compute."""

    owners: Owners
    admitted: bool = False


_pages = RateLimiter(owners=4096)
_computing = RateLimiter(owners=4096)
_turn: ContextVar[_Turn | None] = ContextVar("turn", default=None)


def address_of(request: Request) -> str:
    """The network address of the visitor who sent a request; "" if it is not known."""
    return request.client.host if request.client else ""


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The group of visitors counted together with an address: an IPv6 visitor can choose the last
    64 bits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def owners(session: str, address: str) -> Owners:
    """The owners charged for a turn of a session.

    A reload begins a new session with an allowance of its own. So the network address is
    counted, too, for as many visitors as may share it.
    """
    network = network_of(address)
    return {f"session {session}": 1.0, f"network {network}": float(_VISITORS_PER_ADDRESS)}


@contextmanager
def turn(owners: Callable[[], Owners]) -> Iterator[None]:
    """A block, such as one run of a page, whose computing time is charged to `owners`.

    Only processor time is measured, so waiting is not charged. Inside another turn, the outer turn
    is charged.
    """
    if _turn.get() is not None:
        yield
        return
    own = _Turn(owners())
    token, began = _turn.set(own), time.thread_time()
    try:
        yield
    finally:
        _turn.reset(token)
        seconds = time.thread_time() - began
        _computing.charge(own.owners, seconds, access.COMPUTING_RATE, access.MOST_COMPUTING)


def refuse_over_limit() -> None:
    """Refuse a computation that is not cached to a visitor over the limit.

    Checked once a turn, so a turn that has started is finished. Raises `RateLimitError`.
    """
    own = _turn.get()
    assert own is not None
    limits = access.COMPUTING_RATE, access.MOST_COMPUTING
    if not own.admitted and not _computing.allows(own.owners, *limits):
        raise RateLimitError("too_many_requests")
    own.admitted = True


@contextmanager
def charged_to(address: str | None) -> Iterator[bool]:
    """A block charged to a network address, or to nobody if it is None. Yields whether allowance is
    left."""
    owners = {} if address is None else {network_of(address): 1.0}
    limits = access.PAGE_RATE, access.MOST_PAGES
    began = time.thread_time()
    try:
        yield _pages.allows(owners, *limits)
    finally:
        _pages.charge(owners, time.thread_time() - began, *limits)


def charged_for(request: Request) -> AbstractContextManager[bool]:
    """A block charged to the visitor who sent a request, in class mode; as `charged_to`."""
    return charged_to(address_of(request) if access.is_class_mode() else None)
