"""Coroutines in a thread of their own: a browser of another test may have a loop in this one."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What `coroutine` returns."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, coroutine).result()
