"""The training replay mounted in a Streamlit page.

It is no part of the page's own file, because Streamlit runs that anew each time, and a component
that is declared anew may be mounted anew.
"""

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from explorer.components.shared.bundle import script, styles
from explorer.components.training_replay.payload import replay_payload
from explorer.training.run_directory import Run


def mount(key: str, run: Run, other: Run | None, language: str) -> None:
    """Show a run as it stands now, its curves over those of `other`."""
    data = replay_payload(key, run, language=language, other=other)
    _training_replay()(key="training-replay", data=data)


@cache
def _training_replay() -> ComponentRenderer:
    return st.components.v2.component(
        "attention_training_replay",
        css=styles("training_replay"),
        js=script("training_replay"),
    )
