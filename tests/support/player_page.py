"""The player in a page of its own, as Streamlit mounts it, with a fake host."""

from explorer.components.html_export import page
from explorer.components.player import View, bundle, payload, styles
from explorer.core.trace import Trace


def plain_bundle() -> str:
    """The player's module as a script that exports nothing."""
    script = bundle().replace("export default function", "const entry = function")
    return script.replace("export { mount };", "")


def shadow_page(trace: Trace) -> str:
    """The component entry on a shadow root, as Streamlit calls it, with a fake host."""
    harness = f"""<script type="module">
{plain_bundle()}
window.heard = [];
window.entry = entry;
window.servedBytes = embeddedPayload();
window.explorerPlotly = embeddedPlotly();
window.host = document.getElementById("player");
window.shadow = host.attachShadow({{ mode: "open" }});
const sheet = document.createElement("style");
sheet.textContent = {styles()!r};
shadow.append(sheet);
const hear = (name) => (key, value) => heard.push([name, key, value]);
window.call = (data) => entry({{ data, parentElement: shadow, key: "k", name: "n",
  setStateValue: hear("state"), setTriggerValue: hear("trigger") }});
window.cleanup = call(servedBytes);
</script>
"""
    return with_script(page(trace), harness)


def bytes_of(trace: Trace, view: View | None = None, language: str = "en") -> list[int]:
    return list(payload(trace, language=language, view=view))


def with_script(html: str, script: str) -> str:
    """A page with another script than its own to start it."""
    end = html.index('<script type="text/plain" id="pl')
    return html[: html.index('<script type="module">')] + script + html[end:]
