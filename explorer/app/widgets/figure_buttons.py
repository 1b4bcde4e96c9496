"""Buttons that save a figure drawn by the server: SVG, and SVG for one column of a paper."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.app.state import visitor
from explorer.components.figure_sheet import Width
from explorer.core.i18n import say

_CHOICES: tuple[tuple[str, Width, str], ...] = (
    ("svg", "both", ""),
    ("svg_column", "one", "-column"),
)
"""Button, width of the figure, and suffix of the file name."""


def figure_buttons(draw: Callable[[Width], bytes], file_name: str, key: str, language: str) -> None:
    """Two buttons. draw: the figure in a width, drawn when a button is pressed. file_name: without
    its ending."""
    for name, width, ending in _CHOICES:
        st.download_button(
            say(f"player.{name}", language),
            visitor.limited_download(partial(draw, width), language),
            file_name=f"{file_name}{ending}.svg",
            mime="image/svg+xml",
            key=f"{key}-{name}",
            help=say(f"player.{name}_title", language),
            on_click="ignore",
            icon=":material/download:",
        )
