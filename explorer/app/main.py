"""The script that Streamlit runs for each visitor: title, navigation, lessons and language of all
pages.

It imports nothing slow, so that the page's frame is on screen before torch is imported.
"""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from explorer.app.state import address_bar, session, visitor
from explorer.app.state import lesson as lesson_state
from explorer.app.widgets import messages
from explorer.app.widgets.everything_switch import everything_switch
from explorer.app.widgets.lesson_list import lesson_list
from explorer.core.i18n import LANGUAGES, say

_HERE = Path(__file__).parent


def main() -> None:
    """Draw the frame, then run the page that the visitor chose."""
    language = visitor.language()
    st.set_page_config(
        page_title=say("explore.title", language), page_icon=_HERE / "icon.svg", layout="wide"
    )
    explore = st.Page(
        _HERE / "views" / "explore.py", title=say("explore.page", language), default=True
    )
    heads = st.Page(_HERE / "views" / "heads.py", title=say("heads.page", language))
    train = st.Page(_HERE / "views" / "train.py", title=say("train.page", language))
    chosen = st.navigation([explore, heads, train], position="top")
    with st.container(key="header", horizontal=True, vertical_alignment="center", gap="small"):
        st.title(say("explore.title", language), anchor=False)
        lesson_menu(language, explore, train)
        choose_language(language)
        everything_switch(language)
    with st.container(key="pages", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(say("explore.title", language))  # on a phone, whose header has no room
        for page in (explore, heads, train):
            st.page_link(page)
    with st.container(key="skeleton"):  # main.css hides it when the page has something to show
        st.text(say("explore.loading", language))
    chosen.run()


def lesson_menu(language: str, explore: StreamlitPage, train: StreamlitPage) -> None:
    """The list of lessons, each of which opens on its page. For a file that is not a lesson, show
    why."""
    listed = lesson_state.look_up()
    broken = {f"{one.path}": one for one in listed.broken}
    chosen = lesson_list(listed, language)
    if chosen in broken:
        messages.report(broken[chosen])
    elif lesson := listed.in_language(chosen or "", language):
        page = train if lesson.in_train else explore
        address_bar.expect_link()  # the same one, too, after other cards
        st.switch_page(page, query_params=lesson_state.link(chosen or ""))


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
