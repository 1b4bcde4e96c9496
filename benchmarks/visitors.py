"""A class on one server: thirty visitors, each sending one message a second.

    python benchmarks/visitors.py [--visitors 30] [--seconds 30]

Every visitor is a connection that speaks Streamlit's own protocol: it opens the page, then once
a second reports another step of the player, which is what stepping through a text costs the
server at most (the player reports after half a second of rest). The time runs from the message
to the end of the run it caused. The visitors start spread over the first second; the first two
seconds are not counted. Memory is what the server's process holds more, per visitor, with all
of them connected than after one visit. Run in the classroom's mode, limits included.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from explorer.app.server.access import KEY_VARIABLE
from tests.support.app_server import running_process

STEPS = 6
WARM_UP = 2.0


@dataclass
class Visitor:
    """One connection and what it learnt of the page: the player's widget and its fragment."""

    socket: ClientConnection
    widget: str = ""
    fragment: str = ""
    errors: int = 0

    async def run(self, message: BackMsg) -> float:
        """Send a message; the seconds until the run it caused has ended."""
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
        """What the browser sends when the player rests on a step."""
        message = BackMsg()
        selection = {"site": "cross", "layer": 0, "head": 3, "step": step}
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.json_value = self.widget, json.dumps({"selection": selection})
        message.rerun_script.fragment_id = self.fragment
        return message


async def visit(address: str) -> Visitor:
    """Open the page; the visitor with the picture before it."""
    url = address.replace("http", "ws") + "_stcore/stream"
    socket = await connect(url, subprotocols=["streamlit"], max_size=None, origin=address[:-1])
    visitor = Visitor(socket)
    opening = BackMsg()
    opening.rerun_script.query_string = ""
    await visitor.run(opening)
    return visitor


async def step_on(visitor: Visitor, delay: float, until: float, times: list[float]) -> None:
    """Report a step a second until the time is over."""
    await asyncio.sleep(delay)
    begin = time.perf_counter()
    turn = 0
    while time.perf_counter() < until:
        took = await visitor.run(visitor.report(turn % STEPS + 1))
        if time.perf_counter() - begin > WARM_UP:
            times.append(took)
        turn += 1
        await asyncio.sleep(max(0.0, begin + turn - time.perf_counter()))


async def measure(address: str, process: int, count: int, seconds: float) -> None:
    """Let `count` visitors step for `seconds`, and print what it cost."""
    await visit(address)
    alone = memory(process)
    visitors = [await visit(address) for _ in range(count)]
    together = memory(process)
    times: list[float] = []
    spent = processor_seconds(process)
    until = time.perf_counter() + seconds
    turns = [
        step_on(visitor, number / count, until, times) for number, visitor in enumerate(visitors)
    ]
    await asyncio.gather(*turns)
    spent = processor_seconds(process) - spent
    ordered = sorted(times)
    high = ordered[int(0.95 * (len(ordered) - 1))] * 1000
    middle = statistics.median(times) * 1000
    errors = sum(visitor.errors for visitor in visitors)
    print(f"{count} visitors, {len(times)} messages in {seconds:.0f} s, {errors} errors (target 0)")
    print(f"median {middle:.0f} ms, p95 {high:.0f} ms (target ≤ 60)")
    print(f"the server used {spent:.1f} s of processor time")
    print(f"memory: {(together - alone) / count:.2f} MB a visitor (target ≤ 3), {together:.0f} MB")
    after = memory(process)
    print(f"after all steps: {(after - alone) / count:.2f} MB a visitor")


def memory(process: int) -> float:
    """Megabytes the process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def processor_seconds(process: int) -> float:
    """Processor time the process has used, user and system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Start a server, send the class in."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    os.environ[KEY_VARIABLE] = "benchmark"
    with running_process() as (address, process):
        asyncio.run(measure(address, process.pid, options.visitors, options.seconds))


if __name__ == "__main__":
    main()
