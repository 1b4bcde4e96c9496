"""A limit on the computing of each visitor, by token bucket: an allowance of seconds that refills
at a constant rate, and is charged afterwards with what was used."""

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

    def allows(self, owners: Mapping[str, float], rate: float, most: float) -> bool:
        """Whether all of `owners` have some allowance left.

        owners: by name, a factor on both limits.
        rate: seconds per second by which an allowance refills.
        most: seconds an allowance holds.
        """
        with self._lock:
            left = self._read(owners, rate, most)
        return min(left.values()) > 0

    def charge(self, owners: Mapping[str, float], seconds: float, rate: float, most: float) -> None:
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

    def _read(self, owners: Mapping[str, float], rate: float, most: float) -> dict[str, float]:
        """What each owner has left now."""
        now, found = time.monotonic(), {}
        for owner, factor in owners.items():
            left, since = self._left.get(owner, (most * factor, now))
            found[owner] = min(most * factor, left + (now - since) * rate * factor)
        return found
