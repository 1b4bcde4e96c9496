"""Response time and memory with a class on one server: one message a second from each visitor.

    python -m benchmarks.visitors [--visitors 30] [--seconds 30] [--warm-up 2]

Every visitor is a WebSocket connection with Streamlit's own protocol: it opens the page, then
once a second reports another step of the player. Stepping through a text costs the server no
more, because the player reports after half a second of rest. The time runs from the message to
the end of the script run it caused. The visitors start spread over the first second; the warm-up
seconds are not counted. Memory: how much more the server holds with all of them connected than
after one visit, per visitor. Class mode, rate limits included. Linux only.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from benchmarks.timing import percentile_95, resident_megabytes
from explorer.app.server.access import KEY_VARIABLE
from tests.support.app_server import running_process

STEPS = 6


@dataclass
class Visitor:
    """One connection, and the ids of the player's widget and of its fragment."""

    socket: ClientConnection
    widget: str = ""
    fragment: str = ""
    errors: int = 0

    async def run(self, message: BackMsg) -> float:
        """Send a message: seconds until the script run it caused has ended."""
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await self.socket.recv())
            self._learn(answer)
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - began

    def _learn(self, answer: ForwardMsg) -> None:
        if answer.WhichOneof("type") != "delta":
            return
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "bidi_component" and element.bidi_component.component_name.endswith("player"):
            self.widget, self.fragment = element.bidi_component.id, answer.delta.fragment_id
        if kind == "exception" or (kind == "alert" and "seconds" in element.alert.body):
            self.errors += 1

    def report(self, step: int) -> BackMsg:
        """The message the browser sends when the player rests on a step."""
        message = BackMsg()
        selection = {"site": "cross", "layer": 0, "head": 3, "step": step}
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.json_value = self.widget, json.dumps({"selection": selection})
        message.rerun_script.fragment_id = self.fragment
        return message


async def visit(address: str) -> Visitor:
    """Open the page and wait until it is drawn."""
    url = address.replace("http", "ws") + "_stcore/stream"
    socket = await connect(
        url, subprotocols=[Subprotocol("streamlit")], max_size=None, origin=Origin(address[:-1])
    )
    visitor = Visitor(socket)
    opening = BackMsg()
    opening.rerun_script.query_string = ""
    await visitor.run(opening)
    return visitor


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


async def report_steps(visitor: Visitor, schedule: Schedule, times: list[float]) -> None:
    """Report a step a second, and collect the seconds each took."""
    await asyncio.sleep(schedule.delay)
    begin = time.perf_counter()
    turn = 0
    while time.perf_counter() < schedule.until:
        took = await visitor.run(visitor.report(turn % STEPS + 1))
        if time.perf_counter() - begin > schedule.warm_up:
            times.append(took)
        turn += 1
        await asyncio.sleep(max(0.0, begin + turn - time.perf_counter()))


async def measure(address: str, process: int, options: argparse.Namespace) -> None:
    """Let the visitors report steps, and print times, processor time and memory."""
    count, seconds = options.visitors, options.seconds
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
    await asyncio.gather(*reports)
    spent = processor_seconds(process) - spent
    errors = sum(visitor.errors for visitor in visitors)
    median, high = 1000 * statistics.median(times), 1000 * percentile_95(times)
    print(f"{count} visitors, {len(times)} messages in {seconds:.0f} s, {errors} errors (target 0)")
    print(f"median {median:.0f} ms, p95 {high:.0f} ms (target ≤ 60)")
    print(f"the server used {spent:.1f} s of processor time")
    print(f"memory: {(together - alone) / count:.2f} MB a visitor (target ≤ 3), {together:.0f} MB")
    after = resident_megabytes(process)
    print(f"after all steps: {(after - alone) / count:.2f} MB a visitor")


def processor_seconds(process: int) -> float:
    """Processor time the process has used, user and system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server in class mode and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--warm-up", type=float, default=2)
    options = parser.parse_args(arguments)
    os.environ[KEY_VARIABLE] = "benchmark"
    with running_process() as (address, process):
        asyncio.run(measure(address, process.pid, options))


if __name__ == "__main__":
    main()
