"""The bundled JavaScript and CSS of the components, and Plotly's own script.

esbuild writes the bundles at development time (`make bundles`); they are committed, so users
need no Node.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from explorer.core import folders

Component = Literal["player", "head_grid", "comparison", "metric_matrix", "training_replay"]
Script = Literal[Component, "exported_page"]

BUNDLES = folders.PACKAGE / "components" / "bundles"


@cache
def script(name: Script) -> str:
    """One ES module without imports; a component's `default` is its Streamlit entry point."""
    return (BUNDLES / f"{name}.js").read_text(encoding="utf-8")


@cache
def styles(component: Component) -> str:
    """The style sheet of one component, for a page or a shadow root."""
    return (BUNDLES / f"{component}.css").read_text(encoding="utf-8")


def _installed_plotly() -> Path:
    """Path of the plotly package's plotly.min.js, found without importing the package."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("plotly")
    return Path(spec.origin).with_name("package_data") / "plotly.min.js"


PLOTLY = _installed_plotly()
"""The plotly.js that the components draw with: served by the app, embedded in exported pages."""
