"""A model that is asked about the trace of one text, without the caches of the app."""

from collections.abc import Mapping
from typing import Any

from explorer.core.interventions import Interventions
from explorer.core.sites import SITES, Head
from explorer.core.trace import Trace
from explorer.heads.contributions.agreement import agreement_on_trace
from explorer.heads.contributions.layer_contributions import LayerContributions, layer_contributions
from explorer.heads.contributions.logit_attribution import LogitAttribution, attribution_of
from explorer.heads.contributions.repeated_pass import captured_again
from explorer.heads.contributions.score_parts import PartVectors, part_vectors, parts_of
from explorer.heads.removal.decisive_head import decisive_head
from explorer.model.explorable import ExplorableModel
from explorer.model.huggingface.streams.layer_path import LayerPath


class AskedExplorable:
    """As `components.trace_questions.AskedModel`; `asked` counts the calls."""

    def __init__(self, model: Any, text: str, **options: Any) -> None:
        self.model, self.text, self.options = model, text, options
        self.trained_here = isinstance(model, ExplorableModel)
        self.asked = 0

    def layer(self, site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        self.asked += 1
        chosen: dict[str, Any] = {"layers": [layer], "sites": [site], "without": without}
        return self.model.trace(self.text, capture="full", **chosen, **self.options)

    def contributions(
        self, trace: Trace, method: str
    ) -> tuple[LayerContributions, Mapping[str, int]]:
        self.asked += 1
        found = layer_contributions(self.model, trace, method)
        return found, agreement_on_trace(self.model, trace, found) if found.drops else {}

    def attribution(self, trace: Trace) -> LogitAttribution:
        self.asked += 1
        return attribution_of(self.model, trace)

    def early(self, trace: Trace) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        self.asked += 1
        found: tuple[Mapping[str, Any], Mapping[str, Any]] = self.model.early(trace)
        return found

    def layer_path(self, trace: Trace, site: str, layer: int) -> LayerPath:
        self.asked += 1
        found: LayerPath = self.model.layer_path(trace, site, layer)
        return found

    def score_parts(self, trace: Trace, head: Head) -> PartVectors:
        self.asked += 1
        if not self.trained_here:
            return parts_of(self.model, trace, head)
        return part_vectors(self.model, captured_again(self.model, trace, SITES), head)

    def decisive_head(self, trace: Trace) -> Head:
        self.asked += 1
        return decisive_head(self.model, trace, Interventions())
