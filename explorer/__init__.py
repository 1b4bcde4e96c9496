"""A visual attention explorer for Transformers.

import explorer
model = explorer.load("checkpoints/reverse.safetensors")
trace = model.trace("7 3 9 1 4")
explorer.show(trace)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from explorer.core import page_writer
from explorer.core.version import __version__ as __version__

if TYPE_CHECKING:
    from explorer.components.figures import figure as figure
    from explorer.components.notebook import show as show
    from explorer.core import alignment as alignment
    from explorer.core import words as words
    from explorer.core.errors import ExplorerError as ExplorerError
    from explorer.core.trace import Trace as Trace
    from explorer.heads.comparison.attention_comparison import compare as compare
    from explorer.heads.removal.own_metric import logit_difference as logit_difference
    from explorer.heads.search.attention_index import open_index as open_index
    from explorer.model.explorable import ExplorableModel as ExplorableModel
    from explorer.model.module_capture import capture as capture
    from explorer.model.opening import export_huggingface as export_huggingface
    from explorer.model.points import Point as Point
    from explorer.public.notebook import widget as widget
    from explorer.public.studied_model import import_state_dict as import_state_dict
    from explorer.public.studied_model import load as load
    from explorer.public.studied_model import wrap as wrap

_PUBLIC = {  # name → module and attribute, imported on first use: torch takes a second
    "ExplorableModel": ("model.explorable", "ExplorableModel"),
    "ExplorerError": ("core.errors", "ExplorerError"),
    "Point": ("model.points", "Point"),
    "Trace": ("core.trace", "Trace"),
    "alignment": ("core.alignment", None),
    "capture": ("model.module_capture", "capture"),
    "compare": ("heads.comparison.attention_comparison", "compare"),
    "export_huggingface": ("model.opening", "export_huggingface"),
    "figure": ("components.figures", "figure"),
    "import_state_dict": ("public.studied_model", "import_state_dict"),
    "logit_difference": ("heads.removal.own_metric", "logit_difference"),
    "load": ("public.studied_model", "load"),
    "open_index": ("heads.search.attention_index", "open_index"),
    "show": ("components.notebook", "show"),
    "widget": ("public.notebook", "widget"),
    "words": ("core.words", None),
    "wrap": ("public.studied_model", "wrap"),
}

__all__ = list(_PUBLIC)


def _html_page(trace: "Trace", language: str) -> str:
    from explorer.components.html_export import html_page  # late: NumPy and pandas take a second

    return html_page(trace, language)


def _cell_html(trace: "Trace") -> str:
    from explorer.components.notebook import cell_html

    return cell_html(trace)


page_writer.html_page = _html_page
page_writer.cell_html = _cell_html


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    found = import_module(f"{__name__}.{module}")
    return found if attribute is None else getattr(found, attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
