"""Work that several requests wait for together, in one of the server's forty threads.

Sixty guests ask for the same trace at once. If each waited in a thread for the one that computes,
no thread would be left for pages.
"""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

_Value = TypeVar("_Value")


class SharedWork(Generic[_Value]):
    """Values that are being computed, by key. Used in the server's event loop alone."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[_Value]] = {}

    async def of(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """The value of `key`, computed once for all who ask until it is there. Raises what
        `compute` raises, to each of them. Who is gone ends nobody else's wait."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(run_in_threadpool(compute))
            task.add_done_callback(lambda _: self._tasks.pop(key))
        return await asyncio.shield(task)
