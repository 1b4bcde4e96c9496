"""A rate limit by token bucket: each owner's allowance refills at a constant rate."""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping


class RateLimiter:
    """Allowances by owner, shared by all threads of the server.

    owners: how many are remembered, those seen last.
    """

    def __init__(self, owners: int) -> None:
        self._owners = owners
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # allowance, when read
        self._lock = threading.Lock()

    def spend(self, owners: Mapping[str, float], rate: float, most: float) -> bool:
        """Take one request from each of `owners`; when one has none left, take none: False.

        owners: by name, a factor on both limits.
        rate: requests per second by which an allowance refills.
        most: requests an allowance holds.
        """
        now = time.monotonic()
        with self._lock:
            left = {
                owner: self._allowance(owner, now, rate * factor, most * factor)
                for owner, factor in owners.items()
            }
            allowed = min(left.values()) >= 1
            for owner, requests in left.items():
                self._left[owner] = (requests - 1 if allowed else requests, now)
                self._left.move_to_end(owner)
            while len(self._left) > self._owners:
                self._left.popitem(last=False)
        return allowed

    def _allowance(self, owner: str, now: float, rate: float, most: float) -> float:
        left, since = self._left.get(owner, (most, now))
        return min(most, left + (now - since) * rate)
