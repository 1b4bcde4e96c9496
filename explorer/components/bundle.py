"""The bundled scripts and style sheets, and Plotly's own script.

`make bundles` writes them at development time; they are committed, so users need no Node.
"""

from functools import cache
from hashlib import sha256
from typing import Literal

from explorer.core import folders

Component = Literal[
    "player",
    "head_grid",
    "model_comparison",
    "metric_matrix",
    "training_replay",
    "words",
    "lesson",
    "lesson_list",
    "classroom",
    "chart",
    "everything",
    "explore",
    "bar",
]
Page = Literal["live", "live_training"]
Sheet = Literal[Component, Page]
Script = Literal[
    Page,
    "components",
    "everything_start",
    "exported_page",
    "exported_lesson",
    "followed_replay",
    "live_trainer",
    "live_worker",
    "live_service_worker",
    "notebook_frame",
    "notebook_player",
]

BUNDLES = folders.PACKAGE / "components" / "bundles"

PLOTLY = BUNDLES / "plotly.min.js"
"""The plotly.js of all components: the app serves it, exported pages embed it. It has the version
of the Python package, but only heatmaps and lines, in a third of the size."""


COMPONENTS = BUNDLES / "components.js"
"""The script of all components, which the app serves: a module with the entry point of each, by its
name."""


@cache
def components_address() -> str:
    """The address of `COMPONENTS` on the app's server, relative to the page, with its digest: a
    browser keeps what it has until the script changes."""
    return f"{COMPONENTS.name}?{sha256(COMPONENTS.read_bytes()).hexdigest()[:16]}"


@cache
def script(name: Script) -> str:
    """One script without static imports. `components` and `followed_replay` are ES modules, the
    others classic scripts, which run from disk too."""
    return (BUNDLES / f"{name}.js").read_text(encoding="utf-8")


@cache
def styles(name: Sheet) -> str:
    """A style sheet, for a page or a shadow root."""
    return (BUNDLES / f"{name}.css").read_text(encoding="utf-8")
