"""Work that several wait for."""

import asyncio
import threading

import pytest

from explorer.app.server.shared_work import SharedWork
from tests.support.own_loop import run_alone


def test_many_wait_for_one_computation_and_one_who_is_gone_ends_it_for_nobody():
    free, computed = threading.Event(), []

    def compute() -> str:
        computed.append(threading.current_thread().name)
        assert free.wait(60)
        return "value"

    async def ask() -> list[str]:
        work: SharedWork[str] = SharedWork()
        waiting = [asyncio.create_task(work.of("key", compute)) for _ in range(100)]
        other = await work.of("other", lambda: "another")  # a thread is free
        waiting.pop(0).cancel()
        await asyncio.sleep(0)
        free.set()
        return [other, *await asyncio.gather(*waiting)]

    assert run_alone(ask()) == ["another", *["value"] * 99]
    assert len(computed) == 1


def test_a_failure_reaches_all_and_is_not_kept():
    answers = iter([ZeroDivisionError(), 7])

    def compute() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ask() -> int:
        work: SharedWork[int] = SharedWork()
        two = [asyncio.create_task(work.of(1, compute)) for _ in range(2)]
        for one in two:
            with pytest.raises(ZeroDivisionError):
                await one
        return await work.of(1, compute)

    assert run_alone(ask()) == 7
