"""The front end's components, for Streamlit.

One that is declared again may be mounted again, and Streamlit runs a page's file each time; so each
is declared here, once. It imports nothing slow: the frame of all pages has one. For the same reason
each is mounted with bytes: in a dict Streamlit looks for data frames and imports pandas for that.
"""

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from explorer.components.bundle import Component, components_address, styles

_SCRIPT = """\
const all = await import(new URL("{address}", document.baseURI)).catch(() => {{
  document.querySelector(".script-missing").hidden = false;
  return {{}};
}});
export default all.{name} ?? (() => {{}});
"""
"""Streamlit runs it as a module from memory, beside which nothing has an address. Without the
components, the page shows the notice of `loading_page`."""


@cache
def component(name: Component) -> ComponentRenderer:
    """What mounts a component."""
    js = _SCRIPT.format(address=components_address(), name=name)
    return st.components.v2.component(f"attention_{name}", css=styles(name), js=js)
