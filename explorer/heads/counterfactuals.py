"""What interventions change in one text, and the mean head outputs that some of them need."""

from typing import TYPE_CHECKING

import torch

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.core.vocabulary import PAD
from explorer.heads.evaluation_batches import EvaluationBatch
from explorer.heads.trace_comparison import TraceComparison
from explorer.model.attention_paths import attentions, path
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import capture
from explorer.model.intervention_hooks import Means
from explorer.model.threads import threads_for

if TYPE_CHECKING:
    from explorer.model.huggingface.traced_model import HuggingFaceModel


@torch.inference_mode()
def mean_outputs(model: ExplorableModel, batch: EvaluationBatch) -> Means:
    """The mean of every head's output before W_O over all queries of `batch`; padding queries
    are left out."""
    config = model.transformer.config
    order = attentions(config)
    total = torch.zeros(len(order), config.heads, config.head_width, dtype=torch.float64)
    count = torch.zeros(len(order), 1, 1, dtype=torch.float64)
    for part in batch.parts():
        with (
            threads_for(config, batch.pass_tokens),
            capture(model.transformer, "*.head_output") as outputs,
        ):
            model.transformer(part.source, part.queries)
        for number, (site, layer) in enumerate(order):
            counted = (part.source if site == "encoder" else part.labels) != PAD  # (B, Q)
            output = outputs[path(site, layer, "head_output")]  # (B, H, Q, K)
            total[number] += (output * counted[:, None, :, None]).sum((0, 2))
            count[number] += counted.sum()
    return Means(f"{batch.name} ({len(batch)})", (total / count).float())


def compare_traces(
    model: "ExplorableModel | HuggingFaceModel",
    original: Trace,
    changed: Trace,
    means: Means | None = None,
) -> TraceComparison:
    """What the interventions of `changed` change in `original`, a trace of the same text.

    means: those `changed` was made with, where a head was replaced by its mean output.

    Raises `InterventionError` when the two are not traces of one text by this model.
    """
    same = ("model", "text", "pad_to")
    if any(original.facts.get(name) != changed.facts.get(name) for name in same):
        raise InterventionError("nothing_changed")
    interventions = Interventions.parse(changed.facts.get("interventions", ()))
    if interventions.needs_means and means is not None and means.name != changed.facts.get("means"):
        raise InterventionError("other_means", got=means.name, made=changed.facts.get("means"))
    forced = model.trace(
        original.facts["text"],
        force=_decoded(original),
        pad_to=original.facts["pad_to"],
        means=means,
        **interventions.options(),
    )
    return TraceComparison(original, changed, forced)


def _decoded(trace: Trace) -> dict[int, int]:
    """Step → the id that was taken there; the steps inside a prompt are fixed anyway."""
    if "steps.step" not in trace.arrays:
        return {}
    prompt = trace.facts.get("prompt", 0)
    taken = trace.arrays["steps.chosen"] & (trace.arrays["steps.step"] >= prompt)
    ids, steps = (trace.arrays[f"steps.{name}"][taken].tolist() for name in ("id", "step"))
    return dict(zip(steps, ids, strict=True))
