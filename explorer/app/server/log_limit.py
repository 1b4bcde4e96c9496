"""A limit on the lines that requests cause in the log: anybody can send very many requests, and
disk space is limited."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from explorer.app.server.rate_limit import RateLimiter

AT_ONCE, A_SECOND = 20.0, 0.1
"""Warnings logged at once, and warnings a second after that."""

_ANYBODY = {"": 1.0}


class LogLimit(logging.Filter):
    """Drops warnings beyond the limit, but no errors."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = RateLimiter(owners=1)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        if not self._lines.allows(_ANYBODY, A_SECOND, AT_ONCE):
            return False
        self._lines.charge(_ANYBODY, 1.0, A_SECOND, AT_ONCE)
        return True


@contextmanager
def limited_warnings(*loggers: str) -> Iterator[None]:
    """Limit the warnings of each of these loggers while the block runs."""
    limits = [(logging.getLogger(name), LogLimit()) for name in loggers]
    for logger, limit in limits:
        logger.addFilter(limit)
    try:
        yield
    finally:
        for logger, limit in limits:
            logger.removeFilter(limit)
