"""The limit on computing for requests, and who is charged for it: a token bucket, an allowance of
seconds that refills at a constant rate and is charged afterwards with the seconds used.
"""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from starlette.requests import Request

from explorer.app.server import access

PAGE_RATE = 0.5
MOST_PAGES = 30.0
"""The rate limit of a network address in class mode: an allowance of `MOST_PAGES` seconds, refilled
by `PAGE_RATE` seconds a second."""

Owners = Mapping[str, float]
"""Names of those charged, each with a factor on the limits. Empty = nobody is charged."""


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


_pages = RateLimiter(owners=4096)


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


@contextmanager
def charged_for(request: Request) -> Iterator[bool]:
    """A block whose processor time is charged, in class mode, to the network address that a guest's
    request came from. Yields whether allowance is left."""
    guest = access.is_class_mode() and not access.is_host(request)
    owners = {network_of(address_of(request)): 1.0} if guest else {}
    limits = PAGE_RATE, MOST_PAGES
    began = time.thread_time()
    try:
        yield _pages.allows(owners, *limits)
    finally:
        _pages.charge(owners, time.thread_time() - began, *limits)
