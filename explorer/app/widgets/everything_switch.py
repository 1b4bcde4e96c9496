"""The switch between Simple and Everything, in the header of all pages. The style sheets of the
page and of the components say what it hides; the browser remembers it."""

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from explorer.components.bundle import script, styles
from explorer.core.i18n import section


def everything_switch(language: str) -> None:
    sentences = section("player", language)
    strings = {key: sentences[key] for key in ("everything", "everything_title")}
    _component()(key="everything", data={"language": language, "strings": strings}, width="content")


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component(
        "attention_everything", css=styles("everything"), js=script("everything")
    )
