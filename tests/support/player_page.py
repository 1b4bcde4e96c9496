"""The player in a page of its own, as Streamlit mounts it, with a fake host."""

import re

from playwright.sync_api import Download, Page

from explorer.components.bundle import Component, script, styles
from explorer.components.html_export import html_page
from explorer.components.player.payload import View, player_payload
from explorer.core.trace import Trace


def entry_script(name: Component) -> str:
    """The components' module as a plain script that has them all, and calls the entry point of one
    `entry`."""
    source, exported, _ = re.split(r"export\s*\{([^}]*)\};?", script("components"))
    entries = re.sub(r"([\w$]+) as (\w+)", r"\2: \1", exported)
    return f"{source}const components = {{{entries}}}, entry = components.{name};\n"


EMBEDDED = """
const embedded = (id) => {
  const text = document.getElementById(id).textContent;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
};
const embeddedPayload = async () => new Uint8Array(await embedded("payload").arrayBuffer());
const embeddedPlotly = async () => {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const script = document.createElement("script");
  script.textContent = await embedded("plotly").text();
  document.head.append(script);
  return window.Plotly;
};
"""
"""Payload and Plotly of an exported page."""


PLAYERS = """<script type="module">
{script}
{embedded}
let cleanup = null;
window.explorerPlotly = embeddedPlotly();
const place = document.createElement("aside");
const empty = Uint8Array.from(atob("{everything}"), (letter) => letter.charCodeAt(0));
components.everything({{ parentElement: place, data: empty }});
window.showEverything = (shown) => {{
  const now = document.documentElement.hasAttribute("data-everything");
  if (now !== shown) place.querySelector("button").click();
}};
window.openLesson = (text) => {{
  const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return components.lesson({{ data, parentElement: place, setTriggerValue: () => {{}} }});
}};
window.show = (text) => {{
  cleanup?.();
  document.documentElement.removeAttribute("data-projector");
  sessionStorage.clear();
  window.reported = [];
  const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  cleanup = entry({{ data, parentElement: document.getElementById("player"),
    setStateValue: (name, selection) => reported.push(selection), setTriggerValue: () => {{}} }});
}};
</script>
"""
"""One tab for many players: `show(payload)` removes the one before."""


def shadow_page(trace: Trace) -> str:
    """The component entry on a shadow root, as Streamlit calls it, with a fake host."""
    harness = f"""<script type="module">
{entry_script("player")}
{EMBEDDED}
window.heard = [];
window.entry = entry;
const bytes = await embeddedPayload();
window.explorerPlotly = embeddedPlotly();
window.host = document.getElementById("player");
window.shadow = host.attachShadow({{ mode: "open" }});
const sheet = document.createElement("style");
sheet.textContent = {styles("player")!r};
shadow.append(sheet);
const hear = (name) => (key, value) => heard.push([name, key, value]);
window.call = (data) => entry({{ data, parentElement: shadow, key: "k", name: "n",
  setStateValue: hear("state"), setTriggerValue: hear("trigger") }});
window.cleanup = call(bytes);
</script>
"""
    return with_script(html_page(trace), harness)


def bytes_of(trace: Trace, view: View | None = None, language: str = "en") -> list[int]:
    return list(player_payload(trace, language=language, view=view))


def with_script(html: str, script: str) -> str:
    """A page with another script than its own to start it."""
    start = html.index("\n<script>\n/* Bundled")
    return html[:start] + script + html[html.index("</script>", start) + len("</script>") :]


def label(token: str) -> str:
    return token.strip("<>") if token in ("<bos>", "<eos>", "<pad>") else token


def go_to_first(tab: Page) -> None:
    tab.get_by_role("button", name="First", exact=True).click()


def cell_center(tab: Page, trace: Trace, site: str, query: int, key: int) -> tuple[float, float]:
    """Where the middle of a cell of the large map is on the page."""
    box = tab.locator(".map .clip").bounding_box()
    assert box is not None
    rows, columns = len(trace.queries(site)), len(trace.keys(site))
    x = box["x"] + box["width"] * (key + 0.5) / columns
    return x, box["y"] + box["height"] * (query + 0.5) / rows


def save(tab: Page, name: str) -> Download:
    """What a button of the menu *Save* beside the map saves."""
    tab.get_by_test_id("save").locator("summary").click()
    with tab.expect_download() as event:
        tab.get_by_test_id(name).click()
    return event.value
