"""The player's JavaScript as one module and its styles as one sheet.

A component of Streamlit takes its script inline, where relative imports do not resolve; so
the small files are joined here, in an order in which each uses only what stands before it.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

SCRIPTS = (
    "element",
    "radios",
    "payload",
    "label",
    "palette",
    "scale",
    "bitmap",
    "state",
    "moment",
    "unit",
    "alignment",
    "tooltip",
    "strips",
    "transport",
    "site",
    "rail",
    "geometry",
    "pattern",
    "figure",
    "axes",
    "overlay",
    "legend",
    "map",
    "candidates",
    "forced",
    "sentence",
    "ending",
    "integrity",
    "picture",
    "download",
    "keyboard",
    "plotly",
    "player",
    "entry",
)
SHEETS = ("theme", "layout", "strips", "transport", "rail", "map", "candidates", "integrity")

_HERE = Path(__file__).parent


def _installed_plotly() -> Path:
    """Path of the plotly.min.js that the plotly package brings, found without importing it."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("plotly")
    return Path(spec.origin).with_name("package_data") / "plotly.min.js"


PLOTLY = _installed_plotly()
"""The plotly.js the player draws with; the app serves it, an exported page embeds it."""


@cache
def bundle() -> str:
    """One ES module: `default` is a Streamlit component entry, `mount` serves a plain page."""
    return _joined("js", SCRIPTS)


@cache
def styles() -> str:
    """One style sheet, for a page or for a component's shadow root."""
    return _joined("css", SHEETS)


def _joined(kind: str, names: tuple[str, ...]) -> str:
    files = (_HERE / kind / f"{name}.{kind}" for name in names)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
