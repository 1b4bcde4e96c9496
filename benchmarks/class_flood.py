"""A class while one guest sends what he can: how long the others wait for an answer.

    python -m benchmarks.class_flood [KIND …] [--seconds 10] [--rounds 3] [--threads 8]
                                     [--root FOLDER]

One server in class mode, as in `class_guests`, on the first core; on the last the one guest, whose
address is 127.9.9.9, and another who asks for `/_stcore/health` every 50 ms, each time on a new
connection. The guest repeats one kind of request in several threads or, with the kind `all`, which
is the default, every kind in a thread of its own. The worst answer of each round is printed, and
the median of the rounds. Linux only.
"""

import argparse
import multiprocessing
import os
import socket
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from benchmarks.class_guests import HOST, class_server
from benchmarks.visitors import core
from tests.support.app_server import ROOT

GUEST = "127.9.9.9"
PAUSE = 0.05
"""Seconds between two questions of the other guest."""

REST = 2.0
"""Seconds between two rounds."""

TARGET = 200
LARGE = b"x" * 1_000_000
CHUNKS = b"1\r\na\r\n" * 20_000


def request(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    """One request, as its bytes."""
    length = [f"Content-Length: {len(body)}"] if body else []
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", *headers, *length, "", ""]
    return "\r\n".join(lines).encode() + body


JSON = "Content-Type: application/json"
VOTE = b'{"number": 1, "choice": 0}'
SHORT = {
    "page": request("GET", "/"),
    "health": request("GET", "/_stcore/health"),
    "missing": request("GET", "/nothing/here"),
    "model": request("GET", "/models/english-french.js"),
    "vote": request("POST", "/class/vote", JSON, body=VOTE),
    "large vote": request("POST", "/class/vote", JSON, body=LARGE),
    "large page": request("GET", "/", body=LARGE),
    "key": request("POST", "/host-cookie", "X-Host-Key: guessed", body=b" "),
    "stream": request("GET", "/class/events?page=a"),
    "headers": request("GET", "/", *(f"X-{number}: {'x' * 60}" for number in range(200))),
    "handshake": request("POST", "/_stcore/stream", "Connection: Upgrade", "Upgrade: websocket"),
    "no request": bytes(60_000),
}
"""Kinds that are sent once on each connection, whose first answer is read."""

ENDLESS = {
    "chunks": (request("POST", "/nothing", "Transfer-Encoding: chunked"), CHUNKS),
    "pipeline": (b"", SHORT["health"] * 500),
}
"""Kinds of which each connection gets a beginning, and what follows it without end."""

Sender = Callable[[int, float], None]


def connect(port: int) -> socket.socket:
    """A connection of the guest."""
    connection = socket.socket()
    connection.settimeout(5)
    connection.bind((GUEST, 0))
    connection.connect((HOST, port))
    return connection


def send_short(content: bytes) -> Sender:
    """Send one request on each connection, and read some of its answer."""

    def send(port: int, until: float) -> None:
        while time.perf_counter() < until:
            with suppress(OSError), connect(port) as connection:
                connection.sendall(content)
                connection.recv(65_536)

    return send


def send_endless(beginning: bytes, content: bytes) -> Sender:
    """Send on, and read what comes."""

    def drain(connection: socket.socket) -> None:
        with suppress(OSError):
            while connection.recv(65_536):
                pass

    def send(port: int, until: float) -> None:
        while time.perf_counter() < until:
            with suppress(OSError), connect(port) as connection:
                threading.Thread(target=drain, args=(connection,), daemon=True).start()
                connection.sendall(beginning)
                while time.perf_counter() < until:
                    connection.sendall(content)

    return send


def download(port: int, until: float) -> None:
    """Ask for a large file on one connection after another, and read nothing."""
    held = []
    while time.perf_counter() < until:
        try:
            held.append(connect(port))
            held[-1].sendall(SHORT["model"])
        except OSError:
            time.sleep(PAUSE)


def open_alone(port: int, until: float) -> None:
    """Open connections, and send nothing."""
    while time.perf_counter() < until:
        with suppress(OSError), connect(port):
            pass


KINDS: dict[str, Sender] = {
    **{name: send_short(content) for name, content in SHORT.items()},
    **{name: send_endless(*content) for name, content in ENDLESS.items()},
    "unread": download,
    "open": open_alone,
}


def flood(port: int, kind: str, threads: int, until: float) -> None:
    """Send one kind of request, or all, until the clock says so; in a process of its own."""
    senders = [*KINDS.values()] if kind == "all" else threads * [KINDS[kind]]
    running = [threading.Thread(target=one, args=(port, until), daemon=True) for one in senders]
    for thread in running:
        thread.start()
    time.sleep(max(0.0, until - time.perf_counter()))
    os._exit(0)


def ask(port: int, until: float) -> list[float]:
    """How long the other guest waits for each answer, in milliseconds."""
    waits = []
    while time.perf_counter() < until:
        began = time.perf_counter()
        with socket.create_connection((HOST, port), timeout=60) as connection:
            connection.sendall(request("GET", "/_stcore/health", "Connection: close"))
            while connection.recv(4096):
                pass
        waits.append(1000 * (time.perf_counter() - began))
        time.sleep(PAUSE)
    return waits


def measure(port: int, kind: str, options: argparse.Namespace) -> None:
    """Some rounds of one kind, and print."""
    worst, typical = [], []
    for _ in range(options.rounds):
        until = time.perf_counter() + options.seconds
        guest = multiprocessing.get_context("fork").Process(
            target=flood, args=(port, kind, options.threads, until)
        )
        guest.start()
        waits = ask(port, until)
        guest.join()
        worst.append(max(waits))
        typical.append(statistics.median(waits))
        time.sleep(REST)
    rounds = ", ".join(f"{one:.0f}" for one in worst)
    print(
        f"{kind}: worst answer of a round {rounds}; their median {statistics.median(worst):.0f} ms "
        f"(target ≤ {TARGET}); median answer {statistics.median(typical):.1f} ms",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server in class mode, and flood it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(("all", *KINDS)))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    unknown = set(options.kinds) - {"all", *KINDS}
    if unknown:
        parser.error(f"expected kinds of {', '.join(('all', *KINDS))}; got {', '.join(unknown)}")
    os.environ["EXPLORER_HOST_KEY"] = "benchmark-benchmark"
    with ExitStack() as servers:
        with core(first=True):
            port, _ = servers.enter_context(class_server(options.root.resolve()))
        with core(first=False):
            for kind in options.kinds or ["all"]:
                measure(port, kind, options)


if __name__ == "__main__":
    main()
