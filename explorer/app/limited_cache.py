"""A cache for all visitors that is limited by bytes, not by the number of its values."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

_Value = TypeVar("_Value")


class LimitedCache:
    """Values by key, limited to `most` bytes together: the least recently used are dropped. The
    newest value stays, however large.

    dropped: called after values were dropped.
    """

    def __init__(self, most: int, dropped: Callable[[], object] = lambda: None) -> None:
        self.most = most
        self._dropped = dropped
        self._values: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._computing: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes of all values."""
        with self._lock:
            return sum(size for _, size in self._values.values())

    def find(self, key: Hashable) -> Any:
        """The value of `key`, or None."""
        with self._lock:
            return self._used(key) if key in self._values else None

    def get(
        self,
        key: Hashable,
        compute: Callable[[], _Value],
        size_of: Callable[[_Value], int],
        expected: int = 0,
    ) -> _Value:
        """The value of `key`. The first thread that asks computes it; others wait.

        expected: bytes to free before it is computed.

        Raises the exceptions of `compute`; the next thread that asks then computes it.
        """
        with self._lock:
            if key in self._values:
                return cast(_Value, self._used(key))
            alone = self._computing.setdefault(key, threading.Lock())
        with alone:
            with self._lock:
                if key in self._values:
                    return cast(_Value, self._used(key))
            try:
                self._make_room(expected)
                value = compute()
                size = size_of(value)
                self._make_room(size)
                with self._lock:
                    self._values[key] = (value, size)
            finally:
                with self._lock:
                    self._computing.pop(key, None)
            return value

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()

    def _used(self, key: Hashable) -> Any:
        """The value of a key, marked as the most recently used."""
        self._values.move_to_end(key)
        return self._values[key][0]

    def _make_room(self, size: int) -> None:
        """Drop values until `size` more bytes fit."""
        count = 0
        with self._lock:
            total = sum(one for _, one in self._values.values())
            while self._values and total + size > self.most:
                _, (_, freed) = self._values.popitem(last=False)
                total, count = total - freed, count + 1
        if count:
            self._dropped()
