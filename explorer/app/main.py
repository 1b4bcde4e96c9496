"""What stands around every page: title, navigation, language. Run by Streamlit for each visit.

It imports nothing heavy: the frame of the page is on screen before torch is.
"""

from pathlib import Path

import streamlit as st

from explorer.app.state import explore as explore_state
from explorer.core.i18n import LANGUAGES, say

_HERE = Path(__file__).parent


def shell() -> None:
    """Draw the frame, then run the page the visitor chose."""
    language = explore_state.language()
    st.set_page_config(
        page_title=say("explore.title", language), page_icon=_HERE / "icon.svg", layout="wide"
    )
    st.html(_HERE / "main.css")
    pages = [
        st.Page(_HERE / "views" / "explore.py", title=say("explore.page", language), default=True),
        st.Page(_HERE / "views" / "heads.py", title=say("heads.page", language)),
        st.Page(_HERE / "views" / "train.py", title=say("train.page", language)),
    ]
    chosen = st.navigation(pages, position="top")
    with st.container(key="frame", horizontal=True, vertical_alignment="center", gap="small"):
        st.title(say("explore.title", language), anchor=False)
        choose_language(language)
    chosen.run()


def choose_language(language: str) -> None:
    """The switch between the languages, each called what its speakers call it."""
    st.session_state.setdefault(explore_state.LANGUAGE, language)
    st.segmented_control(
        say("explore.language", language),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=explore_state.LANGUAGE,
        required=True,
        on_change=explore_state.speak,
        label_visibility="collapsed",
    )


shell()
