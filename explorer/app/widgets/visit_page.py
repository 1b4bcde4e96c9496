"""Common beginning of Explore and Heads, the pages that show the visit."""

from collections.abc import Callable

import streamlit as st

from explorer.app.state import address_bar, visitor
from explorer.app.visitor_catalog import visitor_catalog
from explorer.app.widgets.messages import literal
from explorer.core.i18n import say
from explorer.model.catalog import TRAIN_COMMAND


def visit_page(name: str, draw: Callable[[], None]) -> None:
    """Follow the URL and `draw` the page called `name`. Without any model, say how to get one.

    Call it in whole runs of the script only; see `address_bar.follow`.
    """
    catalog = visitor_catalog()
    if not catalog:
        command = literal(TRAIN_COMMAND)
        st.info(say("explore.no_models", visitor.language(), command=command))
        return
    address_bar.enter(name)
    address_bar.follow(catalog)
    draw()
