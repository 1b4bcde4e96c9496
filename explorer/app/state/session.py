"""The only module that reads and writes `st.session_state`.

State is one frozen dataclass for each page, kept under the name of its class. A widget's own
value is not state: Streamlit drops it when the widget is not drawn, and it is tied to the words
the widget shows. So a widget of a value in the state has one key a language (`shown_as`) and
its callback writes the value back (`read_choice`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

# Keys of the widgets whose values are read or set through the session.
LANGUAGE = "language"
TYPED = "compare-typed"
RUN = "train-run"
COMPARED_RUNS = "train-others"

_State = TypeVar("_State")


def load(kind: type[_State]) -> _State:
    """The session's `kind`, or a new one with its defaults."""
    found: _State | None = st.session_state.get(kind.__name__)
    return kind() if found is None else found


def find(kind: type[_State]) -> _State | None:
    """The session's `kind`, or None before the first `save`."""
    found: _State | None = st.session_state.get(kind.__name__)
    return found


def save(state: object) -> None:
    """Replace the session's state of this class."""
    st.session_state[type(state).__name__] = state


@dataclass(frozen=True, slots=True)
class ShownWidgets:
    """keys: of the widgets drawn last by `shown_as`, by name and language."""

    keys: Mapping[tuple[str, str], str] = field(default_factory=dict)


def shown_as(name: str, language: str, value: object) -> str:
    """The key of the widget called `name` in one language, set to show `value`.

    A value that the visitor did not choose in the widget gets a new widget. With each action, a
    browser sends its values of all widgets; one that has not yet drawn the new value would reset
    it.
    """
    drawn = load(ShownWidgets)
    key = drawn.keys.get((name, language), f"{name}-{language}")
    if st.session_state.get(key, value) != value:
        replaced = key.removeprefix(f"{name}-{language}").removeprefix("-")
        key = f"{name}-{language}-{int(replaced or 1) + 1}"
    save(ShownWidgets({**drawn.keys, (name, language): key}))
    st.session_state[key] = value
    return key


def read_choice(key: str, take: Callable[[Any], None]) -> None:
    """Call `take` with the visitor's choice, in the callback of a widget of `shown_as`. Nothing is
    called if another widget has replaced this one."""
    if key in load(ShownWidgets).keys.values():
        take(widget_value(key))


def set_widget(key: str, value: object) -> None:
    """Set the widget with this key to `value`, before it is drawn."""
    st.session_state[key] = value


def widget_value(key: str, default: object = None) -> Any:
    """Value of the widget with this key, or `default` if it is not drawn.

    A button's callback reads it when the button is pressed: text typed just before may not have
    been drawn, and a page that has reconnected shows values that no run of the script has read.
    """
    return st.session_state.get(key, default)


def session_id() -> str:
    """Streamlit's id of this session, "" outside of one."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def page_id() -> str:
    """Streamlit's hash of the page that this run draws, "" outside of one."""
    context = get_script_run_ctx()
    return context.page_script_hash if context is not None else ""
