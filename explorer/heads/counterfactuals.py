"""Experiments on one trace, and what they need: mean outputs, contrasts, value norms."""

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.core.vocabulary import PAD
from explorer.heads.evaluation_batches import Sentences
from explorer.heads.trace_comparison import Contrast
from explorer.model.apply_interventions import Means
from explorer.model.attention_paths import attentions, path
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import capture


@torch.inference_mode()
def mean_outputs(model: ExplorableModel, sentences: Sentences) -> Means:
    """The mean of every head's output before W_O over all queries of `sentences`."""
    config = model.transformer.config
    places = attentions(config)
    total = torch.zeros(len(places), config.heads, config.head_width, dtype=torch.float64)
    count = torch.zeros(len(places), 1, 1, dtype=torch.float64)
    for part in sentences.parts():
        with capture(model.transformer, "*.head_output") as outputs:
            model.transformer(part.source, part.queries)
        for number, (site, layer) in enumerate(places):
            asked = (part.source if site == "encoder" else part.labels) != PAD  # (B, Q)
            output = outputs[path(site, layer, "head_output")]  # (B, H, Q, K)
            total[number] += (output * asked[:, None, :, None]).sum((0, 2))
            count[number] += asked.sum()
    return Means(f"{sentences.name} ({len(sentences)})", (total / count).float())


def contrast(
    model: ExplorableModel, original: Trace, changed: Trace, means: Means | None = None
) -> Contrast:
    """What the interventions of `changed` make of `original`, a trace of the same text.

    means: those `changed` was made with, where a head was removed by its mean.

    Raises `InterventionError` when the two are not of this model on one text.
    """
    same = ("model", "text", "pad_to")
    if any(original.facts.get(name) != changed.facts.get(name) for name in same):
        raise InterventionError("nothing_changed")
    done = Interventions.parse(changed.facts.get("interventions", ()))
    if done.needs_means and means is not None and means.name != changed.facts.get("means"):
        raise InterventionError("other_means", got=means.name, made=changed.facts.get("means"))
    chosen = original.arrays["steps.chosen"]
    ids, steps = (original.arrays[f"steps.{name}"][chosen].tolist() for name in ("id", "step"))
    forced = model.trace(
        original.facts["text"],
        force=dict(zip(steps, ids, strict=True)),
        pad_to=original.facts["pad_to"],
        means=means,
        **done.options(),
    )
    return Contrast(original, changed, forced)


@torch.inference_mode()
def value_norms(model: ExplorableModel, trace: Trace) -> dict[str, NDArray[np.float32]]:
    """‖A[q,k]·(x_k W_V + b_V) W_O‖ of every head, by site: (layer, head, query, key), from 0 on.

    How long the vector is that each key adds to a query, which its weight alone does not say.
    Rows do not sum to 1. trace: captured in full; else `TraceError`. Source: Kobayashi et al.
    2020, arXiv 2004.10102; b_O belongs to no key and is left out.
    """
    modules = dict(model.transformer.named_modules())
    norms = {}
    for site in trace.sites:
        values = torch.from_numpy(trace.values(site).copy())  # (layer, head, key, K)
        lengths = []
        for layer, of_layer in enumerate(values):
            weight = modules[path(site, layer, "output")].weight  # (D, D), out by in
            by_head = weight.T.unflatten(0, of_layer.shape[::2])  # (head, K, D)
            lengths.append((of_layer @ by_head).norm(dim=-1))  # (head, key)
        norms[site] = trace.attention(site) * torch.stack(lengths).numpy()[:, :, None]
    return norms
