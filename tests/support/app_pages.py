"""The app's pages without a browser, as a visitor opens them."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import WidgetList

import explorer.app
from explorer.app import explore_route, model_cache
from explorer.app.state import visit as visit_state
from explorer.app.views import explore, heads
from explorer.app.visitor_catalog import catalog_of, visitor_catalog
from explorer.core.look import from_query
from tests.support.payloads import unpack_payload

MAIN = Path(explorer.app.__file__).with_name("main.py")

FIRST, FIRST_TEXT = "reverse-almost", "8 6 9 7 1 4"
"""The model and the text that a bare address shows."""


def open_page(page: str = "explore", **query: str) -> AppTest:
    """A page, opened with this query."""
    app = AppTest.from_file(str(MAIN), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return (app if page == "explore" else app.switch_page(f"views/{page}.py")).run()


def chosen_in(widgets: WidgetList[Any], name: str) -> Any:
    """The widget of `session.shown_as` with this name and language, such as "section-en"."""
    return next(one for one in widgets if re.fullmatch(rf"{name}(-\d+)?", one.key or ""))


def sent_to(app: AppTest, component: str) -> bytes:
    """What a component on the page was sent."""
    mounts = [element.proto for element in app.get("bidi_component")]
    return next(one.bytes for one in mounts if one.component_name == f"attention_{component}")


def components_of(app: AppTest) -> list[str]:
    """The names of all components on the page."""
    return [element.proto.component_name for element in app.get("bidi_component")]


def url_query(app: AppTest) -> dict[str, str]:
    """The query of the URL."""
    return {
        name: value if isinstance(value, str) else value[0]
        for name, value in app.query_params.items()
    }


def captions(app: AppTest) -> list[str]:
    """All captions, without escapes."""
    return [text.value.replace("\\", "") for text in app.caption]


def head_view(app: AppTest, name: str) -> tuple[dict, dict[str, dict]]:
    """The header that a head view was sent, and those of the traces in it."""
    header, arrays = unpack_payload(sent_to(app, name))
    traces = {
        part: unpack_payload(array.tobytes())[0]
        for part, array in arrays.items()
        if "." not in part
    }
    return header, traces


def sent_to_explore(app: AppTest) -> dict[str, Any]:
    """What the component of Explore was sent."""
    assert not app.exception
    sent: dict[str, Any] = json.loads(sent_to(app, "explore"))
    return sent


def asked_visit(app: AppTest) -> dict[str, str]:
    """The query of the visit that Explore was told to show."""
    return dict(parse_qsl(sent_to_explore(app)["visit"], keep_blank_values=True))


def picture_of(token: str = "", **query: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the server sends for the picture of a link: its header and its arrays.

    token: of the visitor whose uploads can be named. Raises `ExplorerError`.
    """
    catalog = catalog_of(token)
    initial = {name: visit_state.initial_request(one) for name, one in catalog.items()}
    look, _ = from_query(query, initial)
    member, language = catalog[look.request.model], query.get("lang", "en")
    trace = model_cache.trace(member, look.request)
    return unpack_payload(
        explore_route.explore_payload(member, look.request, trace, look.selection, language)
    )


class _Session:
    """The session of a page, for code outside of its script."""

    def __init__(self, app: AppTest) -> None:
        self._state = app.session_state

    def get(self, key: str, default: object = None) -> Any:
        try:
            return self._state[key]
        except KeyError:
            return default

    def __setitem__(self, key: str, value: object) -> None:
        self._state[key] = value


@contextmanager
def session_of(app: AppTest) -> Iterator[None]:
    """A block in which code outside of a page's script reads and writes its session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", _Session(app))
        yield


def write_address(app: AppTest, query: Mapping[str, str]) -> None:
    """Put a query into the URL, as the browser does."""
    app.query_params.clear()
    for name, value in query.items():
        app.query_params[name] = value


def looked_at(
    app: AppTest, query: Mapping[str, str], *, back: bool = False, followed: int | None = None
) -> AppTest:
    """Explore after the browser has written a query into the URL and reported it.

    back, followed: see `ReportedLook`; None = as often as the browser was told.
    """
    known = sent_to_explore(app)["followed"] if followed is None else followed
    write_address(app, query)
    report = {"look": {"parameters": urlencode(query), "followed": known, "back": back}}
    with session_of(app):
        explore.take_look(visitor_catalog(), report)
    return app.run()


def sent_to_bar(app: AppTest) -> dict[str, Any]:
    """What the row of controls of Heads was sent."""
    assert not app.exception
    sent: dict[str, Any] = json.loads(sent_to(app, "bar"))
    return sent


def asked_in_bar(app: AppTest, **asked: object) -> AppTest:
    """Heads after the row of controls has reported the request that it shows, with `asked` in the
    place of some of its fields. Another model is asked for its first example."""
    bar = sent_to_bar(app)
    if "model" in asked:
        model = next(one for one in bar["models"] if one["name"] == asked["model"])
        asked = {"text": model["examples"][0]["text"] if model["examples"] else "", **asked}
    report = {"request": {**bar["request"], "number": bar["answered"] + 1, **asked}}
    with session_of(app):
        heads.read_request(visitor_catalog(), report)
    return app.run()
