"""The rate limit of page loads, downloads and weights of heads, by network address."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from explorer.app.server import access
from explorer.app.server.rate_limit import RateLimiter

_pages = RateLimiter(owners=4096)


@contextmanager
def charged_to(address: str | None) -> Iterator[bool]:
    """A block charged to an address, None = to nobody; whether it has some allowance left."""
    if address is None:
        yield True
        return
    owner, limits = {address: 1.0}, (access.PAGE_RATE, access.MOST_PAGES)
    began = time.thread_time()
    try:
        yield _pages.allows(owner, *limits)
    finally:
        _pages.charge(owner, time.thread_time() - began, *limits)
