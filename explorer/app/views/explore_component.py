"""Explore, whose texts the server traces without a run of this script."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from explorer.app import explore_route
from explorer.app.component import component
from explorer.app.state import address_bar, session, visitor
from explorer.app.state.visit import initial_request
from explorer.app.visitor_catalog import visitor_catalog, visitor_token
from explorer.components.live.page import LiveModel, component_data
from explorer.core.look import Look, from_query, to_query
from explorer.model.catalog import shipped_models

_KEY = "explore"


@dataclass(frozen=True, slots=True)
class KeptVisit:
    """query: of the visit that another page showed; "" = none."""

    query: str = ""


@lru_cache(maxsize=64)
def _data(language: str, token: str, kept: str) -> bytes:
    models = [LiveModel(one) for one in shipped_models().values()]
    server = explore_route.PATH.strip("/")
    return component_data(models, language, server=server, visitor=token, kept=kept)


def take_look() -> None:
    """Keep what the browser shows, for Heads and Train."""
    query = dict(parse_qsl((session.widget_value(_KEY) or {}).get("look") or ""))
    initial = {name: initial_request(one) for name, one in visitor_catalog().items()}
    look, _ = from_query(query, initial)
    session.save(look)
    address_bar.leave_visit()  # Heads opens without a query, and keeps it


def keep_visit() -> None:
    """Open with the visit of the page before, if the address names no other one."""
    visit = session.find(Look)
    session.save(KeptVisit(urlencode(to_query(visit)) if visit else ""))


@st.fragment
def explore() -> None:
    """The component; its reports run this fragment alone."""
    data = _data(visitor.language(), visitor_token(), session.load(KeptVisit).query)
    component("explore")(key=_KEY, data=data, on_look_change=take_look)


def main() -> None:
    """Draw the page; one that the visitor comes back to shows the visit of the page before."""
    if address_bar.enter("explore"):
        keep_visit()
    explore()


if __name__ == "__main__":
    main()
