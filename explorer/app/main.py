"""The script that Streamlit runs for each visitor: title, navigation and language of all pages.

It imports nothing slow, so that the page's frame is on screen before torch is imported.
"""

from pathlib import Path

import streamlit as st

from explorer.app.state import session, visitor
from explorer.app.widgets.lesson_menu import lesson_menu
from explorer.core.i18n import LANGUAGES, say

_HERE = Path(__file__).parent


def main() -> None:
    """Draw the frame and the page that the visitor chose; over the rate limit, say so."""
    language = visitor.language()
    with visitor.page_load() as admitted:
        if admitted:
            draw(language)
        else:
            st.error(say("explore.too_many_requests", language))


def draw(language: str) -> None:
    """Draw the frame, then run the page that the visitor chose."""
    st.set_page_config(
        page_title=say("explore.title", language), page_icon=_HERE / "icon.svg", layout="wide"
    )
    explore = st.Page(
        _HERE / "views" / "explore.py", title=say("explore.page", language), default=True
    )
    pages = [
        explore,
        st.Page(_HERE / "views" / "heads.py", title=say("heads.page", language)),
        st.Page(_HERE / "views" / "train.py", title=say("train.page", language)),
    ]
    chosen = st.navigation(pages, position="top")
    with st.container(key="header", horizontal=True, vertical_alignment="center", gap="small"):
        st.title(say("explore.title", language), anchor=False)
        lesson_menu(language, explore)
        choose_language(language)
    with st.container(key="skeleton"):  # main.css hides it when the page has something to show
        st.text(say("explore.loading", language))
    chosen.run()


def choose_language(language: str) -> None:
    """The switch between the languages, each named in itself."""
    if session.widget_value(session.LANGUAGE) is None:
        session.set_widget(session.LANGUAGE, language)
    st.segmented_control(
        say("explore.language", language),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=session.LANGUAGE,
        required=True,
        on_change=lambda: visitor.choose_language(session.widget_value(session.LANGUAGE)),
        label_visibility="collapsed",
    )


main()
