"""Response time and memory with several visitors on one server: one message a second from each.

    python -m benchmarks.visitors [--visitors 30 60 120] [--seconds 30] [--warm-up 2]

Every visitor is a WebSocket connection with Streamlit's own protocol: it opens the page, then
once a second reports another step of the player. Stepping through a text costs the server no
more, because the player reports after half a second of rest. The time runs from the message to
the end of the script run it caused. The visitors start spread over the first second; the warm-up
seconds are not counted. Where there are two cores, the server has the first alone and the
visitors the last. The processor time of a message hardly depends on what else the machine does.
Memory: how much more the server holds with all of them connected than after one visit, per
visitor. A fresh server for each number of visitors. Linux only.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.timing import percentile_95, processor_seconds, resident_megabytes
from tests.support.app_server import running_process
from tests.support.visitor_connection import Visitor, visit

STEPS = 6


@dataclass(frozen=True)
class Schedule:
    """When a visitor reports.

    delay: seconds before the first report.
    until: time of `perf_counter` after which none is sent.
    warm_up: seconds from the first report that are not counted.
    """

    delay: float
    until: float
    warm_up: float


async def report_steps(visitor: Visitor, schedule: Schedule, times: list[float]) -> int:
    """Report a step a second, and collect the seconds each took; how many were sent."""
    await asyncio.sleep(schedule.delay)
    begin = time.perf_counter()
    turn = 0
    while time.perf_counter() < schedule.until:
        took = await visitor.run(visitor.report(turn % STEPS + 1))
        if time.perf_counter() - begin > schedule.warm_up:
            times.append(took)
        turn += 1
        await asyncio.sleep(max(0.0, begin + turn - time.perf_counter()))
    return turn


async def measure(address: str, process: int, count: int, options: argparse.Namespace) -> None:
    """Let the visitors report steps, and print times, processor time and memory."""
    seconds = options.seconds
    await visit(address)
    alone = resident_megabytes(process)
    visitors = [await visit(address) for _ in range(count)]
    together = resident_megabytes(process)
    times: list[float] = []
    spent = processor_seconds(process)
    until = time.perf_counter() + seconds
    reports = [
        report_steps(visitor, Schedule(index / count, until, options.warm_up), times)
        for index, visitor in enumerate(visitors)
    ]
    sent = sum(await asyncio.gather(*reports))
    spent = processor_seconds(process) - spent
    errors = sum(visitor.errors for visitor in visitors)
    median, high = 1000 * statistics.median(times), 1000 * percentile_95(times)
    print(f"{count} visitors, {len(times)} messages in {seconds:.0f} s, {errors} errors (target 0)")
    print(f"median {median:.0f} ms, p95 {high:.0f} ms (target ≤ 300)")
    print(f"processor time of the server: {1000 * spent / sent:.1f} ms a message")
    print(f"memory: {(together - alone) / count:.2f} MB a visitor (target ≤ 3), {together:.0f} MB")
    after = resident_megabytes(process)
    print(f"after all steps: {(after - alone) / count:.2f} MB a visitor", flush=True)


@contextmanager
def core(*, first: bool) -> Iterator[None]:
    """A block in which this process, and the processes it starts, have one core."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0 if first else -1]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server in class mode for each number of visitors, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=[30], nargs="+")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--warm-up", type=float, default=2)
    options = parser.parse_args(arguments)
    for count in options.visitors:
        with ExitStack() as servers:
            with core(first=True):
                address, process = servers.enter_context(running_process())
            with core(first=False):
                asyncio.run(measure(address, process.pid, count, options))


if __name__ == "__main__":
    main()
