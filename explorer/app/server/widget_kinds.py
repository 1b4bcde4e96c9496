"""Which kind of value each widget reports, learnt from what the server sends to any browser.

Streamlit keeps whatever value a message holds for a widget, and fails with a traceback where the
widget expects another kind. The ids are the same in all sessions: each is a hash of the widget.
"""

import threading
from collections import OrderedDict

from google.protobuf.message import DecodeError
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState

KINDS = {
    "bidi_component": "json_value",
    "button": "trigger_value",
    "button_group": "string_array_value",
    "checkbox": "bool_value",
    "dialog": "trigger_value",
    "download_button": "trigger_value",
    "file_uploader": "file_uploader_state_value",
    "menu_button": "string_trigger_value",
    "multiselect": "string_array_value",
    "number_input": "double_value",  # of whole numbers "int_value"
    "radio": "string_value",
    "selectbox": "string_value",
    "text_area": "string_value",
    "text_input": "string_value",
}
"""The kind of value by the kind of element, for those that the pages use."""

_EVENTS = "__events"
"""Behind a component's id, the id under which it reports events."""

_MOST_WIDGETS = 4096


class WidgetKinds:
    """Kinds of value by widget id, those of the widgets sent last; for all connections."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def learn(self, data: bytes) -> None:
        """Note the widget that a message to a browser draws, if it draws one."""
        try:
            message = ForwardMsg.FromString(data)
        except DecodeError:
            return
        found = _drawn(message.delta) if message.HasField("delta") else None
        if found is not None:
            widget, kind = found
            with self._lock:
                self._kinds[widget] = kind
                self._kinds.move_to_end(widget)
                while len(self._kinds) > _MOST_WIDGETS:
                    self._kinds.popitem(last=False)

    def fits(self, state: WidgetState) -> bool:
        """Whether a value is of the widget's kind, is none, or is of a widget not known."""
        kind = state.WhichOneof("value")
        with self._lock:
            if state.id.endswith(_EVENTS) and state.id.removesuffix(_EVENTS) in self._kinds:
                return kind in (None, "json_trigger_value")
            return kind in (None, self._kinds.get(state.id, kind))


def _drawn(delta: Delta) -> tuple[str, str] | None:
    """Id and kind of value of the widget in a delta."""
    part = delta.add_block if delta.HasField("add_block") else delta.new_element
    name = part.WhichOneof("type")
    kind = KINDS.get(name or "")
    if not name or not kind:
        return None
    element = getattr(part, name)
    if name == "number_input" and element.data_type == NumberInput.INT:
        kind = "int_value"
    return (element.id, kind) if element.id else None
