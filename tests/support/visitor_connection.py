"""A visitor without a browser: a WebSocket connection with Streamlit's own protocol."""

import json
import time
from dataclasses import dataclass

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol


@dataclass
class Visitor:
    """One connection to Explore, and the ids of the component and its fragment.

    asked: parameters of the visit that the component was told to show.
    followed: number of visits that it knows of.
    link: the one to share, once a look was reported.
    """

    socket: ClientConnection
    widget: str = ""
    fragment: str = ""
    asked: str = ""
    followed: int = 0
    link: str = ""
    errors: int = 0

    async def run(self, message: BackMsg) -> float:
        """Send a message: seconds until the last script run it caused has ended."""
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await self.socket.recv())
            self._learn(answer)
            if _is_over(answer):
                return time.perf_counter() - began

    def _learn(self, answer: ForwardMsg) -> None:
        if answer.WhichOneof("type") != "delta":
            return
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "bidi_component" and element.bidi_component.component_name.endswith("explore"):
            self.widget, self.fragment = element.bidi_component.id, answer.delta.fragment_id
            sent = json.loads(element.bidi_component.bytes)
            self.asked, self.followed = sent["visit"], sent["followed"]
        if kind == "code":
            self.link = element.code.code_text
        if kind == "exception" or (kind == "alert" and "seconds" in element.alert.body):
            self.errors += 1

    def report(self, step: int) -> BackMsg:
        """The message the browser sends when the player rests on a step."""
        look = {"parameters": f"{self.asked}&step={step}", "followed": self.followed}
        message = BackMsg()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.json_value = self.widget, json.dumps({"look": {**look, "back": False}})
        message.rerun_script.fragment_id = self.fragment
        return message

    def back(self, query: str) -> BackMsg:
        """The message the browser sends when Back has changed the query in the address."""
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.is_history_navigation = True
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


def _is_over(answer: ForwardMsg) -> bool:
    over = answer.WhichOneof("type") == "script_finished"
    return over and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
