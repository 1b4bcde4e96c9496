"""How often a visitor of a classroom may trace: turns that are spent and come back."""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping


class Turns:
    """Turns by owner, for all threads of the server; the owners seen last are remembered."""

    def __init__(self, owners: int) -> None:
        self._owners = owners
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # turns, when counted
        self._lock = threading.Lock()

    def spend(self, owners: Mapping[str, float], rate: float, most: float) -> bool:
        """Use one turn of each of `owners`; False, and nothing is used, when one has none left.

        They come back at `rate` a second up to `most`, times the number beside the owner.
        """
        now = time.monotonic()
        with self._lock:
            left = {
                owner: self._now_left(owner, now, rate * times, most * times)
                for owner, times in owners.items()
            }
            able = min(left.values()) >= 1
            for owner, turns in left.items():
                self._left[owner] = (turns - 1 if able else turns, now)
                self._left.move_to_end(owner)
            while len(self._left) > self._owners:
                self._left.popitem(last=False)
        return able

    def _now_left(self, owner: str, now: float, rate: float, most: float) -> float:
        left, since = self._left.get(owner, (most, now))
        return min(most, left + (now - since) * rate)
