"""The model behind a trace on screen, for computing more about that trace."""

import threading
import weakref
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from explorer.app import first_trace, model_cache
from explorer.app.model_cache import Model, kept, trace_bytes
from explorer.core.errors import TraceError
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.heads.request_answers import RequestAnswers
from explorer.model.catalog import CatalogMember

_SLOTS = threading.Semaphore(2)
"""Computations at a time that visitors and saved pages ask for. Separate from those of traces,
which pages wait for."""


def asked_model(member: CatalogMember, request: Request, shown: Trace) -> "ModelOfTrace | None":
    """Model behind `shown`, a trace on screen. None for an uploaded trace."""
    if not member.can_trace:
        return None
    find: Callable[[], Model | None]
    if shown is first_trace.stored(member, request):
        find = partial(model_cache.model_of, member)  # loaded when something is asked of it
    else:
        find = weakref.ref(model_cache.model_of(member))
    numbers = {site: shown.layer_numbers(site) for site in shown.sites}
    means = model_cache.means_for(member, request.interventions)
    return ModelOfTrace(request, numbers, member.is_own, means, find=find, stamp=member.stamp)


@dataclass(frozen=True, eq=False)
class ModelOfTrace(RequestAnswers):
    """The model behind a trace. It keeps neither the model nor a trace in memory.

    find: returns the model, or None if it is no longer in memory.
    """

    _: KW_ONLY
    find: "Callable[[], Model | None]"
    stamp: str

    def model(self) -> Any:
        model = self.find()
        if model is None:
            raise TraceError("model_dropped")
        return model

    def turn(self) -> AbstractContextManager[Any]:
        return _SLOTS

    def once(self, name: Hashable, compute: Callable[[], Trace]) -> Trace:
        return kept((self.stamp, self.request, name), compute, trace_bytes)

    def pad_to(self, model: Any) -> int | None:
        return model_cache.padded(model, self.request)
