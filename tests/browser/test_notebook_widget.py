"""The widget of a notebook: its module in a page with a stand-in of anywidget's model, which hands
what it is told to a widget in Python, and what that sends to the module."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import FrameLocator, Page, expect

import explorer
from explorer.components.bundle import script
from explorer.core.trace import Trace
from tests.support.example_traces import random_trace
from tests.support.printed_equations import cell_texts

pytest.importorskip("anywidget")

PAGE = """<!doctype html><title>Notebook</title><div id="output"></div><script type="module">
const entry = "data:text/javascript;base64,{module}";
const state = {{}}, listeners = {{}};
let dirty = {{}};
const fire = (event, ...told) => (listeners[event] ?? []).forEach((hear) => hear(...told));
const binary = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const take = (next) => {{
  Object.assign(state, next);
  Object.keys(next).forEach((name) => fire(`change:${{name}}`));
}};
window.receive = (messages) => messages.forEach(({{ state: next, content, buffers }}) => {{
  if (content) fire("msg:custom", content, buffers.map(binary));
  else take({{ ...next, ...(next._payload && {{ _payload: binary(next._payload) }}) }});
}});
const tell = async (data) => receive(await python(JSON.stringify(data)));
const model = {{
  get: (name) => state[name],
  set: (name, value) => {{
    if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
    dirty[name] = value;
    take({{ [name]: value }});
  }},
  save_changes: () => {{
    if (Object.keys(dirty).length) tell({{ method: "update", state: dirty }});
    dirty = {{}};
  }},
  on: (event, hear) => {{ (listeners[event] ??= []).push(hear); }},
  off: (event, hear) => {{ listeners[event] = listeners[event].filter((one) => one !== hear); }},
  send: (content) => tell({{ method: "custom", content }}),
}};
window.show = async (initial) => {{
  receive([{{ state: initial }}]);
  const {{ default: widget }} = await import(entry);
  window.hide = await widget.render({{ model, el: document.getElementById("output") }});
  window.heard = () => Object.values(listeners).flat().length;
}};
</script>"""


class Comm:
    """What a widget in Python talks through; `sent` has the messages since they were taken."""

    kernel, comm_id = True, "tested"

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def on_msg(self, hear: Callable[[dict[str, Any]], None]) -> None:
        self.hear = hear

    def send(self, data: dict[str, Any], buffers: Any = None, **_: object) -> None:
        """Bytes as text: those of a message's own buffers, or of the payload."""
        texts = [base64.b64encode(one).decode() for one in buffers or []]
        if data["method"] == "custom":
            self.sent.append({"content": data["content"], "buffers": texts})
        elif data["method"] == "update":
            payload = dict(zip(("_payload",), texts, strict=False))
            self.sent.append({"state": {**data["state"], **payload}})

    def close(self, *_: object, **__: object) -> None:
        pass

    def take(self) -> list[dict[str, Any]]:
        taken, self.sent = self.sent, []
        return taken


class Notebook:
    """A widget and the page that shows it."""

    def __init__(self, view: Any, tab: Page) -> None:
        self.view, self.tab, self.comm = view, tab, Comm()
        self.asked: list[tuple[str, str]] = []
        view.comm = self.comm
        tab.expose_function("python", self.hear)
        state = {name: value for name, value in view.get_state().items() if name in view.keys}
        payload = base64.b64encode(state["_payload"]).decode()
        names = ("_page", "_height", "_request", "site", "layer", "head", "step", "cell")
        initial = {name: state[name] for name in names}
        tab.evaluate("(initial) => show(initial)", {**initial, "_payload": payload})

    def hear(self, data: str) -> list[dict[str, Any]]:
        content = json.loads(data).get("content", {})
        if "question" in content:
            self.asked.append((content["question"], content["place"]))
        self.comm.hear({"content": {"data": json.loads(data)}, "buffers": []})
        return self.comm.take()

    def follow(self) -> None:
        """The page takes what Python has set."""
        self.tab.evaluate("(messages) => receive(messages)", self.comm.take())

    @property
    def frame(self) -> FrameLocator:
        return self.tab.frame_locator("iframe")

    def part(self, name: str) -> Any:
        return self.frame.get_by_test_id(name)

    def wait(self, trait: str, value: object) -> None:
        """Until the browser has told it."""
        for _ in range(300):
            if getattr(self.view, trait) == value:
                return
            self.tab.wait_for_timeout(100)  # in which the page may call
        assert getattr(self.view, trait) == value


@pytest.fixture(scope="module")
def model() -> Any:
    return explorer.load("reverse")


@pytest.fixture
def opened(new_tab: Callable[..., Page], tmp_path: Path) -> Callable[..., Notebook]:
    def open_widget(shown: Any, text: str | None = None, **place: Any) -> Notebook:
        module = base64.b64encode(script("notebook_frame").encode()).decode()
        path = tmp_path / "notebook.html"
        path.write_text(PAGE.format(module=module), encoding="utf-8")
        tab = new_tab(offline=True)
        tab.goto(path.as_uri())
        notebook = Notebook(explorer.widget(shown, text, **place), tab)
        expect(notebook.frame.locator(".plotted")).to_be_visible()
        return notebook

    return open_widget


def test_a_click_changes_the_traits_and_traits_move_the_picture(model, opened):
    notebook = opened(model.trace("7 3 9"), site="cross", layer=1, head=2, step=3)
    title, count = notebook.part("map-title"), notebook.part("step-count")
    expect(title).to_have_text("Cross · L1 H2")
    expect(count).to_have_text("step 3/4")
    notebook.part("head-0-3").click()
    expect(title).to_have_text("Cross · L0 H3")
    notebook.wait("head", 3)
    assert (notebook.view.layer, notebook.view.site, notebook.view.step) == (0, "cross", 3)
    notebook.view.head = 1
    notebook.view.step = 2
    notebook.follow()
    expect(title).to_have_text("Cross · L0 H1")
    expect(count).to_have_text("step 2/4")
    notebook.frame.get_by_role("button", name="First", exact=True).click()
    notebook.wait("step", 1)
    assert notebook.view.head == 1
    notebook.view.site = "encoder"
    notebook.follow()
    expect(title).to_have_text("Encoder · L0 H1")
    expect(notebook.part("edit")).to_be_hidden()  # of a trace alone
    notebook.tab.evaluate("hide()")
    expect(notebook.tab.locator("iframe")).to_have_count(0)
    notebook.tab.wait_for_function("heard() === 0")


def test_of_a_large_trace_weights_come_from_python_head_by_head(opened):
    """Layer and head change together: between them there is no head to be shown."""
    notebook = opened(random_trace(160, 160, 4, 8), site="cross", layer=1, head=2, step=3)
    title = notebook.part("map-title")
    notebook.view.layer, notebook.view.head = 3, 5
    notebook.follow()
    expect(title).to_have_text("Cross · L3 H5")
    notebook.asked.clear()
    notebook.part("head-0-1").click()
    notebook.wait("head", 1)
    assert notebook.view.layer == 0
    expect(title).to_have_text("Cross · L0 H1")
    assert {place for name, place in notebook.asked if name == "head"} == {"pieces/cross/0/1"}


def test_a_cell_opens_its_arithmetic_with_what_python_answers(model, opened):
    notebook = opened(model, "7 3 9", site="cross", layer=1, head=2)
    notebook.view.cell = (1, 0)
    notebook.follow()
    full: Trace = model.trace("7 3 9", capture="full")
    place = np.ravel_multi_index((1, 2, 1, 0), full.attention("cross").shape)
    for name, text in cell_texts(full, "cross")[place].items():
        expect(notebook.part(f"inside-{name}")).to_have_text(text)
    assert notebook.view.step == 2
    notebook.part("head-1-2").press("Escape")
    notebook.wait("cell", None)


def test_edit_shows_the_trace_of_the_changed_model(model, opened):
    notebook = opened(model, "7 3 9 1 4", site="decoder", layer=0, head=1)
    notebook.part("edit").click()
    notebook.part("head-0-0").click()
    expect(notebook.part("changes")).to_contain_text("remove Decoder L0 H0")
    expected = model.trace("7 3 9 1 4", ablate=["decoder.0.0"])
    assert notebook.view.trace.digest == expected.digest
    assert (notebook.view.layer, notebook.view.head) == (0, 1)
    lines = notebook.part("outputs").locator(".output").all()
    shown = [" ".join(line.locator(".token").all_inner_texts()) for line in lines]
    assert shown == ["4 1 9 3 7 eos", "4 1 9 3 7 7 eos"]
    notebook.part("head-0-0").click()
    expect(notebook.part("changes")).to_be_hidden()
    assert notebook.view.trace.text == "4 1 9 3 7"


def test_what_the_model_refuses_is_said_above_the_picture(model, opened, monkeypatch):
    notebook = opened(model, "7 3 9", site="decoder", layer=0, head=1)

    def refuse(*_: object, **__: object) -> Trace:
        raise explorer.ExplorerError("no_pair")

    monkeypatch.setattr(type(model), "trace", refuse)
    notebook.part("edit").click()
    notebook.part("head-0-0").click()
    expect(notebook.frame.locator("#problem")).to_contain_text("This model reads no second text")
    expect(notebook.part("player")).not_to_have_class(re.compile("waiting"))
