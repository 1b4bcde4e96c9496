"""Which kind of value each widget reports."""

import re

import pytest
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.testing.v1.element_tree import Widget

from explorer.app.server.widget_kinds import KINDS, WidgetKinds
from explorer.core import folders
from tests.support.app_pages import open_page


def drawn(name: str, widget: str) -> bytes:
    """The message that draws an element with this id."""
    message = ForwardMsg()
    part = message.delta.add_block if name == "dialog" else message.delta.new_element
    getattr(part, name).id = widget
    return message.SerializeToString()


def test_a_number_is_whole_or_not_as_its_widget_says():
    kinds = WidgetKinds()
    for name, data_type in (("steps", NumberInput.INT), ("rate", NumberInput.FLOAT)):
        message = ForwardMsg()
        message.delta.new_element.number_input.id = name
        message.delta.new_element.number_input.data_type = data_type
        kinds.learn(message.SerializeToString())
    assert kinds.kind("steps") == "int_value"
    assert kinds.kind("rate") == "double_value"


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"number_input"}))
def test_a_widget_takes_one_kind_of_value(name):
    kinds = WidgetKinds()
    kinds.learn(drawn(name, "one"))
    assert kinds.kind("one") == KINDS[name]


def test_the_events_of_a_component_are_a_widget_of_their_own():
    kinds = WidgetKinds()
    kinds.learn(drawn("bidi_component", "player"))
    kinds.learn(drawn("button", "start"))
    assert kinds.kind(_make_trigger_id("player", "events")) == "json_trigger_value"
    assert kinds.kind(_make_trigger_id("start", "events")) is None
    assert kinds.kind("player__events") is None


def test_a_table_is_told_from_other_widgets_that_report_text():
    kinds = WidgetKinds()
    kinds.learn(drawn("dataframe", "roles"))
    kinds.learn(drawn("text_input", "source"))
    assert kinds.is_table("roles")
    assert not kinds.is_table("source")
    assert not kinds.is_table("elsewhere")


def test_widgets_not_drawn_have_no_kind():
    kinds = WidgetKinds()
    for data in (b"", b"\xff" * 9, ForwardMsg(script_finished=0).SerializeToString()):
        kinds.learn(data)
    assert kinds.kind("other") is None


@pytest.mark.parametrize("page", ["explore", "heads", "train"])
def test_the_widgets_of_the_pages_report_these_kinds(page):
    """As Streamlit's own test client reports them."""
    widgets = [node for node in open_page(page).main if isinstance(node, Widget)]
    reported = {
        (node.proto.DESCRIPTOR.name, node._widget_state.WhichOneof("value")) for node in widgets
    }
    fields = Element.DESCRIPTOR.oneofs_by_name["type"].fields
    names = {field.message_type.name: field.name for field in fields if field.message_type}
    assert len(reported) >= 3
    for message, kind in reported:
        assert kind in (None, KINDS[names[message]]), message


def test_every_widget_of_the_pages_is_known():
    sources = (path.read_text("utf-8") for path in (folders.PACKAGE / "app").rglob("*.py"))
    called = {name for source in sources for name in re.findall(r"\.(\w+)\(", source)}
    fields = Element.DESCRIPTOR.oneofs_by_name["type"].fields
    widgets = {
        field.name
        for field in fields
        if field.message_type and "id" in field.message_type.fields_by_name
    }
    assert not called & widgets - set(KINDS)
