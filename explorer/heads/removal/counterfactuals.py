"""Effect of interventions on one text, and the mean head outputs that some of them need."""

import torch
from torch import Tensor

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions, refuse_weights_only
from explorer.core.trace import Trace
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.metrics import batch_names
from explorer.heads.metrics.evaluation_batches import parts
from explorer.model.actions import MeanOutputs
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for
from explorer.model.trace_options import input_of


@torch.inference_mode()
def mean_outputs(model: MeasurableModel, batch: EvaluationBatch) -> MeanOutputs:
    """The mean of every head's output before W_O over all queries of `batch`; padding queries
    are left out. Raises `InterventionError` if a model shows only its weights."""
    refuse_weights_only(model.facts)
    totals: dict[tuple[str, int], Tensor] = {}
    counts: dict[tuple[str, int], Tensor] = {}
    for part in parts(model, batch):
        with threads_for(model.passes.parameters, batch.pass_tokens):
            for layer in model.passes.attentions(part):
                place = layer.site, layer.layer
                counted = layer.unmasked.any(-1)  # (N, Q)
                output = layer.output.double() * counted[:, None, :, None]  # (N, H, Q, width)
                totals[place] = totals.get(place, 0) + output.sum((0, 2))
                counts[place] = counts.get(place, 0) + counted.sum()
    outputs = {place: (total / counts[place]).float() for place, total in totals.items()}
    return MeanOutputs(batch_names.written("counted", name=batch.name, count=len(batch)), outputs)


def compare_traces(
    model: MeasurableModel, original: Trace, changed: Trace, means: MeanOutputs | None = None
) -> TraceComparison:
    """Effect of the interventions of `changed`, compared with `original`, a trace of the same text.

    means: those `changed` was made with, where a head was replaced by its mean output.

    Raises `InterventionError` when the two are not traces of one text by this model.
    """
    same = ("model", "text", "pair", "source_language", "target_language", "pad_to")
    if any(original.facts.get(name) != changed.facts.get(name) for name in same):
        raise InterventionError("nothing_changed")
    interventions = Interventions.parse(changed.facts.get("interventions", ()))
    if interventions.needs_mean_outputs and means and means.name != changed.facts.get("means"):
        raise InterventionError("other_means", got=means.name, made=changed.facts.get("means"))
    output = _output(original)
    if not output:  # an encoder alone, without mask tokens to fill in
        return TraceComparison(original, changed, changed)
    forced = model.trace(
        **input_of(original.facts),
        force=output,
        pad_to=original.facts["pad_to"],
        max_new_tokens=len(output) if original.target_tokens else None,  # an encoder fills in
        means=means,
        **interventions.options(),
    )
    return TraceComparison(original, changed, forced)


def _output(trace: Trace) -> dict[int, int]:
    """Step → id of the token decoded or filled in; steps inside a prompt are left out."""
    if "steps.chosen" not in trace.arrays:
        return {}
    chosen, first = trace.arrays["steps.chosen"], trace.facts.get("prompt", 1)
    ids, steps = (trace.arrays[f"steps.{name}"][chosen].tolist() for name in ("id", "step"))
    return {step: token for step, token in zip(steps, ids, strict=True) if step >= first}
