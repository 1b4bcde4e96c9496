"""Kind of value that each widget reports, learnt from the messages the server sends to any browser.

Streamlit keeps whatever value a message holds for a widget, and fails with a traceback where the
widget expects another kind. The ids are the same in all sessions: each is a hash of the widget.
"""

import re
import threading
from collections import OrderedDict

from google.protobuf.message import DecodeError
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput

_COMPONENT = "json_value"
"""For a component, which has a second widget for its events."""

_TABLE = "dataframe"

KINDS = {
    "bidi_component": _COMPONENT,
    "button": "trigger_value",
    "button_group": "string_array_value",
    "checkbox": "bool_value",
    _TABLE: "string_value",  # the chosen rows, as JSON
    "dialog": "trigger_value",
    "download_button": "trigger_value",
    "file_uploader": "file_uploader_state_value",
    "menu_button": "string_trigger_value",
    "multiselect": "string_array_value",
    "number_input": "double_value",  # of whole numbers "int_value"
    "plotly_chart": "string_value",  # what is selected in it, as JSON
    "radio": "string_value",
    "selectbox": "string_value",
    "text_area": "string_value",
    "text_input": "string_value",
    "vega_lite_chart": "string_value",  # what is selected in it, as JSON
}
"""Kind of element → kind of its value, for the elements on the pages."""

_EVENTS = re.compile(r"\$\$STREAMLIT_INTERNAL_KEY_(.+)__events", re.DOTALL)
"""The id under which a component reports events; group: its own id."""

_MOST_WIDGETS = 2**16


class WidgetKinds:
    """Kinds of value by widget id, those of the widgets sent last; for all connections."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[str, tuple[str, str]] = OrderedDict()  # element, kind of value
        self._lock = threading.Lock()

    def learn(self, data: bytes) -> None:
        """Note the widget that a message to a browser draws, if it draws one."""
        try:
            message = ForwardMsg.FromString(data)
        except DecodeError:
            return
        found = _drawn(message.delta) if message.HasField("delta") else None
        if found is not None:
            widget, element, kind = found
            with self._lock:
                self._drawn[widget] = element, kind
                self._drawn.move_to_end(widget)
                while len(self._drawn) > _MOST_WIDGETS:
                    self._drawn.popitem(last=False)

    def kind(self, widget: str) -> str | None:
        """The kind of value of a widget, or None if no message has drawn it."""
        with self._lock:
            if drawn := self._drawn.get(widget):
                return drawn[1]
            found = _EVENTS.fullmatch(widget)
            if found and self._drawn.get(found[1], ("", ""))[1] == _COMPONENT:
                return "json_trigger_value"
            return None

    def is_table(self, widget: str) -> bool:
        """Whether a widget is a table, which reports the chosen rows as JSON."""
        with self._lock:
            return self._drawn.get(widget, ("", ""))[0] == _TABLE


def _drawn(delta: Delta) -> tuple[str, str, str] | None:
    """Id, element and kind of value of the widget in a delta."""
    part = delta.add_block if delta.HasField("add_block") else delta.new_element
    name = part.WhichOneof("type")
    kind = KINDS.get(name or "")
    if not name or not kind:
        return None
    element = getattr(part, name)
    if name == "number_input" and element.data_type == NumberInput.INT:
        kind = "int_value"
    return (element.id, name, kind) if element.id else None
