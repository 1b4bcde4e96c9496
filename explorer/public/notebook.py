"""`widget`: the stepping player in a notebook, with traits."""

from typing import TYPE_CHECKING, Any

from explorer.components.exported_page import checked_language
from explorer.components.notebook import selection_in
from explorer.components.player.payload import View
from explorer.core.errors import TraceError
from explorer.core.look import Request
from explorer.core.trace import Trace

if TYPE_CHECKING:
    from explorer.public.studied_huggingface_model import StudiedHuggingFaceModel
    from explorer.public.studied_model import StudiedModel
    from explorer.public.trace_widget import TraceWidget

EXTRA = "pip install anywidget"


def widget(
    shown: "Trace | StudiedModel | StudiedHuggingFaceModel",
    text: str | None = None,
    *,
    site: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    step: int | None = None,
    language: str = "en",
    height: int = 760,
) -> "TraceWidget":
    """The stepping player as a widget of a notebook, whose traits follow the picture both ways.

    >>> view = explorer.widget(model, "7 3 9", site="cross", layer=1, head=2)
    >>> view.step = 3

    shown: a trace, or a model with the text that it reads; then *Edit* changes the model, and
        `view.trace` is what is shown.
    site, layer, head, step: where the picture opens, see `TraceWidget`. With a layer but no head,
        at the mean of the layer.

    Raises `TraceError` without the package anywidget, and on what the trace does not have.
    """
    try:
        from explorer.public.trace_widget import TraceWidget, traced
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "traitlets"):
            raise
        raise TraceError("no_widget", command=EXTRA) from None
    checked_language(language)
    if text is not None and (isinstance(shown, Trace) or not hasattr(shown, "trace")):
        raise TraceError("no_model_for_text", got=type(shown).__name__)
    trace: Any = shown
    model, request = None, Request("", "")
    if text is not None:
        model, request = trace, Request(trace.name, text)
        trace = traced(model, request)
    seen = selection_in(trace, site, layer, head, step)
    view = View(seen.site, seen.layer, seen.head, seen.step)
    return TraceWidget(trace, model, request, view, language, height)
