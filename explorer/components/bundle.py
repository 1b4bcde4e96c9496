"""The bundled JavaScript and CSS of the components, and Plotly's own script.

`make bundles` writes them at development time; they are committed, so users need no Node.
"""

from functools import cache
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
    "live",
    "live_training",
]
Script = Literal[
    Component,
    "everything_start",
    "exported_page",
    "exported_lesson",
    "live_trainer",
    "live_worker",
    "live_service_worker",
]

BUNDLES = folders.PACKAGE / "components" / "bundles"

PLOTLY = BUNDLES / "plotly-cartesian.min.js"
"""The plotly.js of all components: the app serves it, exported pages embed it. It has the version
of the Python package, but only heatmaps and lines, in a third of the size."""


@cache
def script(name: Script) -> str:
    """One ES module without imports; a component's `default` is its Streamlit entry point. Those of
    the static site, and the start of the app's page, are classic scripts."""
    return (BUNDLES / f"{name}.js").read_text(encoding="utf-8")


@cache
def styles(component: Component) -> str:
    """The style sheet of one component, for a page or a shadow root."""
    return (BUNDLES / f"{component}.css").read_text(encoding="utf-8")
