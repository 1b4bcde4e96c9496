"""Ctrl-C and SIGTERM during a training: note the signal, so that the training saves and ends."""

import signal
import threading
from types import FrameType
from typing import Any, Self

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Signals that are noted if the system has them; the last one is of Windows."""


class StopSignals:
    """Inside the block, the first signal is only noted; the second one acts as outside of it.

    A signal that this process was started to ignore stays ignored. Outside of the main thread
    nothing is noted: Python handles signals there alone.
    """

    def __init__(self) -> None:
        self._received = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
            for number in numbers:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *raised: object) -> None:
        self._restore()

    def __call__(self) -> bool:
        """Whether a signal was received."""
        return self._received > 0

    @property
    def exit_status(self) -> int:
        """Exit status of a process ended by the signal, as in shells: 130 for Ctrl-C."""
        return 128 + self._received

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._received = number
        self._restore()

    def _restore(self) -> None:
        while self._before:
            signal.signal(*self._before.popitem())
