"""Limit on attempts at the host's key: after some wrong keys, an address waits longer each time."""

import threading
import time
from collections import OrderedDict

from explorer.app.server.rate_limit import network_of

FREE = 3
"""Wrong keys before the first wait: mistakes in typing."""

LONGEST = 60.0
"""Seconds. Short, because visitors may share an address with the host."""

_MEMORY = 3600.0  # seconds after which the wrong keys of an address are forgotten


class KeyAttempts:
    """Wrong keys by network address, shared by all threads of the server.

    addresses: number of addresses remembered, those seen last.
    """

    def __init__(self, addresses: int) -> None:
        self._addresses = addresses
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # count, time of the last
        self._lock = threading.Lock()

    def attempt(self, address: str, right: bool) -> bool:
        """Note an attempt. Returns whether its key counts: it is right, and the address did not
        have to wait. An attempt during the wait is not noted."""
        network = network_of(address)
        with self._lock:
            if self._wait(network) > 0:
                return False
            if right:
                self._wrong.pop(network, None)
                return True
            self._wrong[network] = (self._count(network) + 1, time.monotonic())
            self._wrong.move_to_end(network)
            while len(self._wrong) > self._addresses:
                self._wrong.popitem(last=False)
            return False

    def wait(self, address: str) -> float:
        """Seconds until the next attempt of `address` counts; 0 = now."""
        with self._lock:
            return self._wait(network_of(address))

    def _wait(self, network: str) -> float:
        count, last = self._wrong.get(network, (0, 0.0))
        delay = min(2.0 ** min(count - FREE, 30), LONGEST) if count >= FREE else 0.0
        return max(0.0, last + delay - time.monotonic())

    def _count(self, network: str) -> int:
        count, last = self._wrong.get(network, (0, 0.0))
        return count if time.monotonic() < last + _MEMORY else 0
