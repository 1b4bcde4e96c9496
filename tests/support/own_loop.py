"""Coroutines in a thread of their own: a browser of another test may have a loop in this one."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
NewLoop = Callable[[], asyncio.AbstractEventLoop]


def run_alone(coroutine: Coroutine[Any, Any, T], new_loop: NewLoop | None = None) -> T:
    """What `coroutine` returns. new_loop: of another kind than asyncio's own."""

    def run() -> T:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(coroutine)

    with ThreadPoolExecutor(1) as own:
        return own.submit(run).result()
