"""Files that a visitor saves: the button, the file's name, and figures drawn by the server, as SVG
and as SVG for one column of a paper."""

import re
from collections.abc import Callable
from functools import partial
from typing import Literal

import streamlit as st

from explorer.components.figure_sheet import Width
from explorer.core.i18n import say

_LONGEST = 100  # characters of a name; file systems take 255 bytes

_MEDIA_TYPES = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "svg": "image/svg+xml",
    "trace": "application/octet-stream",
}
"""By the ending of a file's name."""

_FIGURES: tuple[tuple[str, Width, str], ...] = (
    ("svg", "both", ""),
    ("svg_column", "one", "-column"),
)
"""Button, width of the figure, and suffix of the file name."""


def download_name(*parts: object) -> str:
    """The parts joined by hyphens, using only letters, digits, dots and hyphens, which every system
    allows in a file name."""
    joined = "-".join(str(part) for part in parts)
    return re.sub(r"[^\w.]+", "-", joined)[:_LONGEST].strip("-.")


def download_button(
    label: str,
    make: Callable[[], bytes],
    file_name: str,
    key: str,
    language: str,
    *,
    about: str | None = None,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """A button whose file is made when it is clicked.

    label, about: keys of sentences.
    """
    st.download_button(
        say(label, language),
        make,
        file_name=file_name,
        mime=_MEDIA_TYPES[file_name.rsplit(".", 1)[-1]],
        key=key,
        help=say(about, language) if about else None,
        on_click="ignore",
        icon=":material/download:",
        width=width,
    )


def figure_buttons(draw: Callable[[Width], bytes], file_name: str, key: str, language: str) -> None:
    """Two buttons. draw: the figure in a width, drawn when a button is pressed. file_name: without
    its ending."""
    for name, width, suffix in _FIGURES:
        download_button(
            f"player.{name}",
            partial(draw, width),
            f"{file_name}{suffix}.svg",
            f"{key}-{name}",
            language,
            about=f"player.{name}_title",
        )
