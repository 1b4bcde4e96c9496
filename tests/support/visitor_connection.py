"""A visitor without a browser: a WebSocket connection with Streamlit's own protocol."""

import json
import time
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol


@dataclass
class Visitor:
    """One connection, and the ids of the player's widget, its fragment and the text box, and
    the mark of its picture.

    drawn: kinds of the elements that the last message caused.
    query: the one in the address bar, as the server wrote it last.
    """

    socket: ClientConnection
    widget: str = ""
    fragment: str = ""
    picture: str = ""
    text_box: str = ""
    errors: int = 0
    drawn: list[str] = field(default_factory=list)
    query: str = ""

    async def run(self, message: BackMsg) -> float:
        """Send a message: seconds until the last script run it caused has ended."""
        self.drawn.clear()
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await self.socket.recv())
            self._learn(answer)
            if _is_over(answer):
                return time.perf_counter() - began

    def _learn(self, answer: ForwardMsg) -> None:
        if answer.WhichOneof("type") == "page_info_changed":
            self.query = answer.page_info_changed.query_string
        if answer.WhichOneof("type") != "delta":
            return
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        self.drawn.append(kind or "block")
        if kind == "bidi_component" and element.bidi_component.component_name.endswith("player"):
            self.widget, self.fragment = element.bidi_component.id, answer.delta.fragment_id
            self.picture = element.bidi_component.bytes[-8:].hex()
        if kind == "text_input":
            self.text_box = element.text_input.id
        if kind == "exception" or (kind == "alert" and "seconds" in element.alert.body):
            self.errors += 1

    def report(self, step: int) -> BackMsg:
        """The message the browser sends when the player rests on a step."""
        message = BackMsg()
        selection = {"site": "cross", "layer": 0, "head": 3, "step": step}
        selection["picture"] = self.picture
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.json_value = self.widget, json.dumps({"selection": selection})
        message.rerun_script.fragment_id = self.fragment
        return message

    def submit(self, text: str) -> BackMsg:
        """The message the browser sends when a text is submitted."""
        message = BackMsg()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.string_value = self.text_box, text
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
