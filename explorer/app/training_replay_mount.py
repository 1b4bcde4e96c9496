"""The screen: the time-lapse mounted in a Streamlit page.

It is no part of the page's own file, because Streamlit runs that anew each time, and a component
that is declared anew may be mounted anew.
"""

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from explorer.components import training_replay
from explorer.training.run_directory import Run


def mount(key: str, run: Run, other: Run | None, language: str) -> None:
    """Show a run as it stands now, its curves over those of `other`."""
    data = training_replay.payload(key, run, language=language, other=other)
    _timelapse()(key="timelapse", data=data)


@cache
def _timelapse() -> ComponentRenderer:
    return st.components.v2.component(
        "attention_timelapse", css=training_replay.styles(), js=training_replay.bundle()
    )
