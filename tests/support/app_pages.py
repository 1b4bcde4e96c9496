"""The app's pages without a browser, as a visitor opens them."""

import re
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import WidgetList

import explorer.app
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
    """The widget of `session.shown_as` with this name and language, such as "source-en"."""
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
