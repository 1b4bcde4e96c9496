"""The front end's components, for Streamlit.

One that is declared again may be mounted again, and Streamlit runs a page's file each time; so each
is declared here, once. It imports nothing slow: the frame of all pages has one.
"""

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from explorer.components.bundle import Component, script, styles


@cache
def component(name: Component) -> ComponentRenderer:
    """What mounts a component."""
    return st.components.v2.component(f"attention_{name}", css=styles(name), js=script(name))
