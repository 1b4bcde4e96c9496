"""What a model computes about the trace of a request, beside the trace itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.core.look import Request
from explorer.core.sites import SITES, Head
from explorer.core.trace import Trace
from explorer.core.trace_size import FIT

if TYPE_CHECKING:
    from explorer.heads.contributions.layer_contributions import LayerContributions
    from explorer.heads.contributions.logit_attribution import LogitAttribution
    from explorer.heads.contributions.score_parts import PartVectors
    from explorer.model.actions import MeanOutputs
    from explorer.model.huggingface.streams.layer_path import LayerPath


@dataclass(frozen=True, eq=False)
class RequestAnswers(ABC):
    """The model behind a trace, as a `components.trace_questions.AskedModel`.

    numbers: layer numbers of the trace, by site.
    means: mean outputs, if the request replaces a head by its mean.
    """

    request: Request
    numbers: Mapping[str, tuple[int, ...]]
    trained_here: bool
    means: "MeanOutputs | None" = None

    @abstractmethod
    def model(self) -> Any:
        """The model. Raises `TraceError` if it is no longer in memory."""

    def turn(self) -> AbstractContextManager[Any]:
        """What a computation waits for."""
        return nullcontext()

    def once(self, name: Hashable, compute: Callable[[], Trace]) -> Trace:
        """A trace that several answers need. name: of it among those of the request."""
        return compute()

    def pad_to(self, model: Any) -> int | None:
        """Number of tokens to which the text is padded."""
        return None

    def checked(self) -> Trace:
        with self.turn():
            return self._traced(self.request.interventions.options(), layers=FIT)

    def layer(self, site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        number = self.numbers[site][layer]
        changes = self.request.interventions.options()
        changes["without"] += without

        def compute() -> Trace:
            with self.turn():
                return self._traced(changes, layers=[number], sites=[site], capture="full")

        return self.once((site, number, without), compute)

    def contributions(
        self, trace: Trace, method: str
    ) -> tuple["LayerContributions", Mapping[str, int]]:
        from explorer.heads.contributions.agreement import agreement_on_trace
        from explorer.heads.contributions.layer_contributions import layer_contributions

        model = self.model()
        with self.turn():
            found = layer_contributions(model, trace, method)
            return found, agreement_on_trace(model, trace, found) if found.drops else {}

    def attribution(self, trace: Trace) -> "LogitAttribution":
        from explorer.heads.contributions.logit_attribution import attribution_of

        model = self.model()
        with self.turn():
            return attribution_of(model, trace)

    def early(self, trace: Trace) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        model = self.model()
        with self.turn():
            found: tuple[Mapping[str, Any], Mapping[str, Any]] = model.early(trace, self.means)
            return found

    def layer_path(self, trace: Trace, site: str, layer: int) -> "LayerPath":
        model = self.model()
        with self.turn():
            found: LayerPath = model.layer_path(trace, site, layer, self.means)
            return found

    def score_parts(self, trace: Trace, head: Head) -> "PartVectors":
        from explorer.heads.contributions.repeated_pass import captured_again
        from explorer.heads.contributions.score_parts import part_vectors, parts_of

        model = self.model()
        if not self.trained_here:
            with self.turn():
                return parts_of(model, trace, head)

        def capture() -> Trace:
            with self.turn():
                return captured_again(model, trace, SITES)

        return part_vectors(model, self.once("captured again", capture), head)

    def decisive_head(self, trace: Trace) -> Head:
        from explorer.heads.removal.decisive_head import decisive_head

        model = self.model()
        with self.turn():
            return decisive_head(model, trace, self.request.interventions, self.means)

    def _traced(self, changes: Mapping[str, Any], **wanted: Any) -> Trace:
        """The trace of the request with these interventions, all its checks measured. wanted: what
        of it, options of `trace`."""
        model = self.model()
        trace: Trace = model.trace(
            **self.request.given,
            **changes,
            means=self.means,
            force=dict(self.request.forced),
            pad_to=self.pad_to(model),
            check="always",
            **wanted,
        )
        return trace
