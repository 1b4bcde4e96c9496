"""The list of lessons in the navigation row of all pages."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from explorer.app.lessons import lessons
from explorer.app.state import lesson as lesson_state
from explorer.app.state import messages
from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.core.lesson_search import FoundLessons


def lesson_menu(language: str, explore: StreamlitPage) -> None:
    """Open a lesson on the page `explore`. For a file that is not a lesson, show why."""
    listed = lessons()
    broken = {f"{one.path}": one for one in listed.broken}
    options = [*listed.lessons, *broken]
    if not options:
        return
    chosen = st.menu_button(
        say("lessons.menu", language),
        options,
        format_func=lambda name: (
            literal(f"✗ {broken[name].path.name}")
            if name in broken
            else _title(listed, name, language)
        ),
        key="lessons",
    )
    if chosen in broken:
        messages.report(broken[chosen])
    elif chosen in listed.lessons:
        st.switch_page(explore, query_params=lesson_state.link(str(chosen)))


def _title(found: FoundLessons, name: str, language: str) -> str:
    lesson = found.in_language(name, language)
    number = list(found.lessons).index(name) + 1
    return literal(f"{number} · {lesson.title}" if lesson else name)
