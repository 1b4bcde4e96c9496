"""A class of three hundred: time from the host's publish to the last byte at a guest, and of votes.

    python -m benchmarks.class_guests [--guests 300] [--steps 60] [--pace 0.5] [--warm-up 4]
                                      [--within 3] [--root FOLDER]

First all guests open the page at once: each downloads the files of a first visit with `reverse`.
One server in class mode, started as `explorer class` starts it, from this checkout or that in
`--root`. Each guest is an event stream from an address of its own (127.1.0.1 and so on), read as
bytes. The host publishes a step every `--pace` seconds; its time at a guest runs from before the
request is sent until the last byte of the message is read. At the end all guests vote `--within`
some seconds, each with a request of its own; the time of a vote runs from opening its connection to
the answer. Then the bytes of the steps are sent to as many connections by a bare broadcast: a
server on the same event loop that writes them to each, and does nothing else.

Where there are two cores, the server has the first alone, and host and guests the last. An error
is a step that a guest is not told within five seconds, and a stream that ends or is refused. A
vote is lost if it is refused or the host is not told of it. Memory is that of the server with all
guests, after their downloads, less that before the first guest; of the downloads, the most that it
held while they went on. What a server spends at rest is no part of a step. Linux only.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, cast

import uvloop

from benchmarks.page_loads import at_rest
from benchmarks.timing import percentile_95, processor_seconds, resident_megabytes
from benchmarks.visitors import core
from tests.support.app_server import PATIENCE, ROOT, free_port, wait_for

STEPS = 6
QUERY = {"model": "reverse", "text": "7 3 9 1 4", "pad": "2"}
QUESTION = {"tokens": ["<bos>"], "candidates": ["1", "7", "9"]}
HOST = "127.0.0.1"
SETTLED = 1.0
"""Seconds until a class has been told everything."""

REST = 3.0
"""Seconds in which a server at rest is measured."""

FIRST_VISIT = ("/", "/live.css", "/live.js", "/plotly.min.js", "/models/reverse.js")
LAST_FILE = "/training.zh.html"
"""Of the guests' pages, the one that is made last."""

LOOK = 0.1
"""Seconds between two looks at the server's memory."""

MISSING = 5.0
"""Seconds after which a step is missing."""

SERVE = """
from explorer.app.server import launch
launch.serve({"server.port": %d, "server.address": "127.0.0.1", "server.headless": "true"})
"""
COOKIE = """
from explorer.app.server import access
print(f"{access.cookie_name()}={access.cookie_value()}")
"""


class Stream(asyncio.Protocol):
    """One event stream.

    parts: what has arrived since they were cleared last, with the time of `perf_counter`.
    cookies: those that the server set.
    """

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.parts: list[tuple[float, bytes]] = []
        self.cookies = ""
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the events."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        """Note when it arrived; all else is done later."""
        self.parts.append((time.perf_counter(), data))

    def connection_lost(self, _: Exception | None) -> None:
        """Note that no more comes."""
        self.ended = True

    def opened(self) -> None:
        """Read what has arrived first: the headers. Refused is ended."""
        head = b"".join(data for _, data in self.parts)
        self.ended |= not head.startswith(b"HTTP/1.1 200")
        self.cookies = "; ".join(re.findall(r"(?i)set-cookie: ([^;\r]*)", head.decode("latin1")))

    def messages(self) -> Iterator[tuple[float, dict[str, Any]]]:
        """The messages that have arrived, each with the time of its last byte."""
        text = b""
        for when, data in self.parts:
            *lines, text = (text + data).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    yield when, json.loads(line.removeprefix(b"data: "))

    def told(self, step: int) -> float | None:
        """When this step had arrived; None if it has not."""
        shown = ((when, (one["view"] or {}).get("query", {})) for when, one in self.messages())
        return next((when for when, query in shown if query.get("step") == str(step)), None)


@dataclass
class Page:
    """What sends requests to a server, all on one connection, from an address of its own.

    cookies: those of its browser.
    """

    port: int
    cookies: str = ""
    own: str = HOST

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(
            HOST, self.port, local_addr=(self.own, 0)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def post(self, path: str, content: bytes) -> int:
        """The status of the answer, which has no body."""
        head = (
            f"POST /class/{path} HTTP/1.1\r\nHost: {HOST}:{self.port}\r\nCookie: {self.cookies}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self.writer.write(head.encode() + content)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        return int(answer.split()[1])


async def publish(page: Page, content: bytes) -> int:
    """The status of the answer to the host's screen, on a new connection."""
    async with page:
        return await page.post("screen", content)


class Bare(asyncio.Protocol):
    """A connection to the bare broadcast: what is posted on one is written to all others."""

    others: list[asyncio.Transport]
    """Those of the guests."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Add a guest, or write to all; a message has one segment."""
        if data.startswith(b"GET"):
            self.others.append(self.transport)
            self.transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
            return
        body = data.partition(b"\r\n\r\n")[2]
        for other in self.others:
            other.write(body)
        self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


def broadcast(listener: socket.socket) -> None:
    """Serve the bare broadcast for ever."""

    async def serve() -> None:
        Bare.others = []
        server = await asyncio.get_running_loop().create_server(Bare, sock=listener)
        await server.serve_forever()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())


@contextmanager
def bare_server() -> Iterator[tuple[int, int]]:
    """The bare broadcast: its port, and the id of its process."""
    with socket.create_server((HOST, 0), backlog=1000) as listener:
        process = multiprocessing.get_context("spawn").Process(target=broadcast, args=(listener,))
        process.start()
        port = listener.getsockname()[1]
    try:
        assert process.pid is not None
        at_rest(process.pid)
        yield port, process.pid
    finally:
        process.terminate()
        process.join()


async def visit(port: int, own: str) -> int:
    """Download the files of a first visit, one after the other: their bytes."""
    reader, writer = await asyncio.open_connection(HOST, port, local_addr=(own, 0))
    total = 0
    for path in FIRST_VISIT:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1").lower()
        (length,) = re.findall(r"content-length: (\d+)", head)
        total += int(length)
        left = int(length)
        while left:
            left -= len(await reader.read(left))
    writer.close()
    return total


async def most_memory(process: int) -> float:
    """The most memory of a process that was seen until this task is cancelled."""
    most = 0.0
    try:
        while True:
            most = max(most, resident_megabytes(process))
            await asyncio.sleep(LOOK)
    except asyncio.CancelledError:
        return most


async def visit_all(port: int, process: int, count: int) -> float:
    """Let all guests open the page, and print; the server's memory before, in MB."""
    spent, began = processor_seconds(process), time.perf_counter()
    before, watch = resident_megabytes(process), asyncio.create_task(most_memory(process))
    sizes = await asyncio.gather(*(visit(port, address_of(one)) for one in range(count)))
    took, spent = time.perf_counter() - began, processor_seconds(process) - spent
    watch.cancel()
    print(
        f"{count} first visits of {sizes[0] / 1e6:.2f} MB (target ≤ 2.4) at once: {took:.1f} s, "
        f"{1000 * spent / count:.1f} ms of the server a visit, {await watch - before:.0f} MB"
    )
    return before


@contextmanager
def class_server(root: Path) -> Iterator[tuple[int, int]]:
    """The server of a checkout in class mode: its port, and the id of its process."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE % port],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for path in ("/_stcore/health", LAST_FILE):
            wait_for(f"http://{HOST}:{port}{path}", server)
        at_rest(server.pid)  # what it prepares in the background is done
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


def host_cookie(root: Path) -> str:
    """The cookie by which a server of that checkout knows its host."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", COOKIE]
    found = subprocess.run(command, cwd=root, env=environment, check=True, stdout=subprocess.PIPE)
    return found.stdout.decode().strip()


def address_of(number: int) -> str:
    """The address of a guest."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


async def follow(port: int, own: str, cookies: str = "", page: str = "") -> Stream:
    """Open an event stream from the address `own`."""
    request = (
        f"GET /class/events?page={page} HTTP/1.1\r\nHost: {HOST}:{port}\r\nCookie: {cookies}\r\n"
    )
    _, stream = await asyncio.get_running_loop().create_connection(
        lambda: Stream(f"{request}\r\n".encode()), HOST, port, local_addr=(own, 0)
    )
    return stream


async def follow_all(port: int, count: int) -> list[Stream]:
    """Open the streams of all guests, and wait until they have been told how many they are."""
    streams = await asyncio.gather(*(follow(port, address_of(one)) for one in range(count)))
    deadline = time.perf_counter() + PATIENCE
    while not all(one.parts or one.ended for one in streams) and time.perf_counter() < deadline:
        await asyncio.sleep(0.1)
    await asyncio.sleep(SETTLED)
    for stream in streams:
        stream.opened()
    return list(streams)


def screen(step: int, **more: object) -> bytes:
    """What the host's page publishes."""
    view = {"query": {**QUERY, "step": str(step)}}
    return json.dumps({"page": "host", "view": view, **more}).encode()


@dataclass
class Followed:
    """Steps that were followed.

    times: seconds until a guest had a step, for each guest and step.
    errors: steps that a guest did not have, and streams that ended.
    processor: seconds of the server for one step, without those that it spends at rest.
    sent: the bytes of each step, as a guest read them.
    """

    times: list[float] = field(default_factory=list)
    errors: int = 0
    processor: float = 0.0
    sent: dict[int, bytes] = field(default_factory=dict)


async def step(
    host: Page, guests: Sequence[Stream], number: int, body: bytes, pace: float
) -> list[float | None]:
    """Publish a step, and wait; seconds until each guest had it, None for those who do not."""
    for guest in guests:
        guest.parts.clear()
    began = time.perf_counter()
    await host.post("screen", body)
    while True:
        await asyncio.sleep(max(pace / 2, began + pace - time.perf_counter()))
        arrived = [guest.told(number) for guest in guests]
        if None not in arrived or time.perf_counter() > began + MISSING:
            return [None if when is None else when - began for when in arrived]


async def processor_share(process: int) -> float:
    """Processor time that a server spends in a second with all guests and without a step."""
    before = processor_seconds(process)
    await asyncio.sleep(REST)
    return (processor_seconds(process) - before) / REST


async def step_through(
    process: int,
    host: Page,
    guests: Sequence[Stream],
    bodies: dict[int, bytes],
    options: argparse.Namespace,
) -> Followed:
    """Publish one step after the other.

    bodies: what is posted, by the step that it shows.
    """
    followed, spent, began = Followed(), 0.0, 0.0
    rest = await processor_share(process)
    async with host:
        for turn in range(options.warm_up + options.steps):
            if turn == options.warm_up:
                spent, began = processor_seconds(process), time.perf_counter()
            number, body = list(bodies.items())[turn % len(bodies)]
            times = await step(host, guests, number, body, options.pace)
            if turn >= options.warm_up:
                followed.sent[number] = b"".join(data for _, data in guests[0].parts)
                followed.times += [one for one in times if one is not None]
                followed.errors += times.count(None)
    spent = processor_seconds(process) - spent - rest * (time.perf_counter() - began)
    followed.processor = spent / options.steps
    followed.errors += sum(guest.ended for guest in guests)
    return followed


async def vote(port: int, guest: Stream, number: int, turn: int, delay: float) -> tuple[int, float]:
    """Vote after some seconds: the status of the answer, and the seconds it took."""
    await asyncio.sleep(delay)
    choice = turn % len(QUESTION["candidates"])
    content = json.dumps({"number": number, "choice": choice}).encode()
    began = time.perf_counter()
    async with Page(port, guest.cookies, address_of(turn)) as page:
        status = await page.post("vote", content)
        return status, time.perf_counter() - began


async def vote_all(
    host: Page, process: int, told: Stream, guests: Sequence[Stream], within: float
) -> None:
    """Let all guests vote, reveal the answer, and print.

    told: the host's stream.
    """
    told.parts.clear()
    await publish(host, screen(1, question=QUESTION))
    await asyncio.sleep(SETTLED)
    number = next(one["question"]["number"] for _, one in told.messages() if one["question"])
    spent = processor_seconds(process)
    votes = await asyncio.gather(
        *(
            vote(host.port, guest, number, turn, within * turn / len(guests))
            for turn, guest in enumerate(guests)
        )
    )
    await asyncio.sleep(SETTLED)
    spent = processor_seconds(process) - spent
    counted = max(one["question"]["answered"] for _, one in told.messages() if one["question"])
    revealed = await publish(host, screen(1, question={**QUESTION, "answer": 1}))
    lost = len(guests) - min(counted, sum(status == 204 for status, _ in votes))
    times = [1000 * took for _, took in votes]
    print(
        f"{len(votes)} votes within {within:g} s: {lost} lost (target 0), median "
        f"{statistics.median(times):.0f} ms, p95 {percentile_95(times):.0f} ms (target ≤ 200), "
        f"{1000 * spent / len(votes):.1f} ms of the server a vote; reveal {revealed}"
    )


def report(name: str, followed: Followed) -> None:
    """Print times and processor time."""
    times = [1000 * one for one in followed.times] or [float("nan")]
    print(
        f"{name}: median {statistics.median(times):.1f} ms, p95 {percentile_95(times):.1f} ms, "
        f"{1000 * followed.processor:.1f} ms of the server a step, {followed.errors} errors"
    )


async def measure_class(
    port: int, process: int, cookie: str, options: argparse.Namespace
) -> Followed:
    """Let guests follow and vote, and print."""
    host = Page(port, cookie)
    told = await follow(port, HOST, cookie, "host")
    first = await follow(port, address_of(0))
    await publish(host, screen(1))
    await asyncio.sleep(SETTLED)
    first.transport.close()
    alone = await visit_all(port, process, options.guests)
    guests = await follow_all(port, options.guests)
    bodies = {step: screen(step) for step in range(1, STEPS + 1)}
    followed = await step_through(process, host, guests, bodies, options)
    print(f"{options.guests} guests, {options.steps} steps, {followed.errors} errors (target 0)")
    report("publish to the last byte at a guest", followed)
    await vote_all(host, process, told, guests, options.within)
    together = resident_megabytes(process)
    print(f"memory of all guests: {together - alone:.0f} MB (target ≤ 60), {together:.0f} MB")
    return followed


async def measure_bare(
    port: int, process: int, sent: dict[int, bytes], options: argparse.Namespace
) -> Followed:
    """Broadcast the same bytes, and print."""
    guests = await follow_all(port, options.guests)
    followed = await step_through(process, Page(port), guests, sent, options)
    report("the same bytes in a bare broadcast", followed)
    return followed


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server in class mode and a bare one, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--guests", type=int, default=300)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--pace", type=float, default=0.5)
    parser.add_argument("--warm-up", type=int, default=4)
    parser.add_argument("--within", type=float, default=3)
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    os.environ["EXPLORER_HOST_KEY"] = "benchmark"
    root = options.root.resolve()
    cookie = host_cookie(root)
    with ExitStack() as servers:
        with core(first=True):
            port, process = servers.enter_context(class_server(root))
        with core(first=False):
            followed = asyncio.run(measure_class(port, process, cookie, options))
    with ExitStack() as servers:
        with core(first=True):
            port, process = servers.enter_context(bare_server())
        with core(first=False):
            bare = asyncio.run(measure_bare(port, process, followed.sent, options))
    print(f"the server spends {followed.processor / bare.processor:.1f} × bare (target ≤ 3)")


if __name__ == "__main__":
    main()
