"""A visual attention explorer for Transformers.

import explorer
model = explorer.load("checkpoints/reverse.safetensors")
trace = model.trace("7 3 9 1 4")
explorer.show(trace)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.errors import ExplorerError as ExplorerError
    from explorer.notebook import show as show
    from explorer.trace import Trace as Trace
    from explorer.tracing import ExplorableModel as ExplorableModel
    from explorer.tracing import load as load

_HOMES = {  # public name → the module it lives in, imported on first use: torch takes a second
    "ExplorableModel": "tracing",
    "ExplorerError": "errors",
    "Trace": "trace",
    "load": "tracing",
    "show": "notebook",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
