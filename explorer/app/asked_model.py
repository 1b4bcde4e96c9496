"""The model behind a trace on screen, for computing more about that trace."""

import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.app import first_trace, model_cache
from explorer.app.model_cache import Model, kept, trace_bytes
from explorer.core.errors import TraceError
from explorer.core.look import Request
from explorer.core.sites import SITES, Head
from explorer.core.trace import Trace
from explorer.core.trace_size import FIT
from explorer.model.catalog import CatalogMember

if TYPE_CHECKING:
    from explorer.heads.contributions.layer_contributions import LayerContributions
    from explorer.heads.contributions.logit_attribution import LogitAttribution
    from explorer.heads.contributions.score_parts import PartVectors
    from explorer.model.actions import MeanOutputs
    from explorer.model.huggingface.streams.layer_path import LayerPath

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
    return ModelOfTrace(find, member.stamp, request, numbers, member.is_own, means)


@dataclass(frozen=True, slots=True, eq=False)
class ModelOfTrace:
    """The model behind a trace, as a `components.trace_questions.AskedModel`.

    It keeps neither the model nor a trace in memory.

    find: returns the model, or None if it is no longer in memory.
    numbers: layer numbers of the trace, by site.
    means: mean outputs, if the request replaces a head by its mean.
    """

    find: "Callable[[], Model | None]"
    stamp: str
    request: Request
    numbers: Mapping[str, tuple[int, ...]]
    trained_here: bool
    means: "MeanOutputs | None" = None

    def checked(self) -> Trace:
        with _SLOTS:
            return self._traced(self.request.interventions.options(), layers=FIT)

    def layer(self, site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        number = self.numbers[site][layer]
        changes = self.request.interventions.options()
        changes["without"] += without

        def compute() -> Trace:
            with _SLOTS:
                return self._traced(changes, layers=[number], sites=[site], capture="full")

        return kept((self.stamp, self.request, site, number, without), compute, trace_bytes)

    def contributions(
        self, trace: Trace, method: str
    ) -> tuple["LayerContributions", Mapping[str, int]]:
        from explorer.heads.contributions.agreement import agreement_on_trace
        from explorer.heads.contributions.layer_contributions import layer_contributions

        model = self._model()
        with _SLOTS:
            found = layer_contributions(model, trace, method)
            return found, agreement_on_trace(model, trace, found) if found.drops else {}

    def attribution(self, trace: Trace) -> "LogitAttribution":
        from explorer.heads.contributions.logit_attribution import attribution_of

        model = self._model()
        with _SLOTS:
            return attribution_of(model, trace)

    def early(self, trace: Trace) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        model = self._model()
        with _SLOTS:
            found: tuple[Mapping[str, Any], Mapping[str, Any]] = model.early(trace, self.means)
            return found

    def layer_path(self, trace: Trace, site: str, layer: int) -> "LayerPath":
        model = self._model()
        with _SLOTS:
            found: LayerPath = model.layer_path(trace, site, layer, self.means)
            return found

    def score_parts(self, trace: Trace, head: Head) -> "PartVectors":
        from explorer.heads.contributions.repeated_pass import captured_again
        from explorer.heads.contributions.score_parts import part_vectors, parts_of

        model = self._model()
        if not self.trained_here:
            with _SLOTS:
                return parts_of(model, trace, head)

        def capture() -> Trace:
            with _SLOTS:
                return captured_again(model, trace, SITES)

        whole = kept((self.stamp, self.request, "captured again"), capture, trace_bytes)
        return part_vectors(model, whole, head)

    def decisive_head(self, trace: Trace) -> Head:
        from explorer.heads.removal.decisive_head import decisive_head

        model = self._model()
        with _SLOTS:
            return decisive_head(model, trace, self.request.interventions, self.means)

    def _traced(self, changes: Mapping[str, Any], **wanted: Any) -> Trace:
        """The trace of the request with these interventions, all its checks measured. wanted: what
        of it, options of `trace`."""
        model = self._model()
        trace: Trace = model.trace(
            **self.request.given,
            **changes,
            means=self.means,
            force=dict(self.request.forced),
            pad_to=model_cache.padded(model, self.request),
            check="always",
            **wanted,
        )
        return trace

    def _model(self) -> Any:
        """The model. Raises `TraceError` if it is no longer in memory."""
        model = self.find()
        if model is None:
            raise TraceError("model_dropped")
        return model
