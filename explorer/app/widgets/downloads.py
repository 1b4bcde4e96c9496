"""Files that a visitor saves: the button, and the file's name."""

import re
from collections.abc import Callable
from typing import Literal

import streamlit as st

from explorer.core.i18n import say

_LONGEST = 100  # characters of a name; file systems take 255 bytes

_MEDIA_TYPES = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "trace": "application/octet-stream",
}
"""By the ending of a file's name."""


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
