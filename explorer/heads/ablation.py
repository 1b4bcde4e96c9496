"""Ablation: the loss and exact match of the model without each head, or with it alone."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.vocabulary import EOS, PAD
from explorer.heads.bootstrap import PerExampleMean
from explorer.heads.evaluation_batches import EvaluationBatch, Progress, no_progress, token_losses
from explorer.heads.head_report_validation import KEYS
from explorer.model.attention_paths import all_heads, attentions
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.intervention_hooks import Means, applied, gated
from explorer.model.masks import padding_mask
from explorer.model.threads import threads_for
from explorer.model.transformer import Transformer

VARIANTS = ("zero", "mean", "only")
"""The head's output set to zero; set to its mean; all other heads of its site set to zero."""

LARGEST_PASS = 2**24
"""Logits of one forward pass: 64 MB."""

MOST_ROWS = 1024


@torch.inference_mode()
def ablation(
    model: ExplorableModel,
    batch: EvaluationBatch,
    means: Means,
    progress: Progress = no_progress,
    variants: Sequence[str] = VARIANTS,
) -> pd.DataFrame:
    """L(head removed) − L and Δ exact match, one row a head, with bootstrap intervals.

    For each of `variants`, as in zero_loss, zero_exact: the mean loss of a target token (nats)
    and the share of outputs that match exactly, each minus that of the whole model. An output
    matches when every token is the most probable one after those before it, which is when
    greedy decoding finds it. means: the outputs of the mean variant, over a named batch.

    Source: Michel et al. 2019, arXiv 1905.10650. "only", because of two redundant heads each
    looks unimportant when it alone is removed.
    """
    transformer = model.transformer
    size = len(all_heads(transformer.config))
    passes, done = len(variants) * size * len(batch), 0
    changes: dict[str, list[Tensor]] = {name: [] for name in variants}
    whole = torch.ones(1, len(attentions(transformer.config)), transformer.config.heads)
    for part in batch.parts():
        base = _outcomes(transformer, part, whole, None)  # (2, 1, N)
        for name, of_parts in changes.items():
            fills = means.outputs if name == "mean" else None
            outcomes = []
            for gates in _groups(transformer.config, name, part):
                outcomes.append(_outcomes(transformer, part, gates, fills))
                done += len(gates) * len(part)
                progress(done / passes)
            of_parts.append(torch.cat(outcomes, 1) - base)  # (2, head, N)
    table = pd.DataFrame(all_heads(transformer.config), columns=KEYS)
    for name, of_parts in changes.items():
        for what, change in _means(of_parts, batch).items():
            columns = {
                "": change.mean,
                **dict(zip(("_low", "_high"), change.interval(), strict=True)),
            }
            table = table.assign(**{f"{name}_{what}{end}": own for end, own in columns.items()})
    return table


@torch.inference_mode()
def effect(
    model: ExplorableModel,
    batch: EvaluationBatch,
    interventions: Interventions,
    means: Means | None = None,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """What interventions change over a batch, applied together: rows loss and exact.

    Columns: before, after, change, low, high (of the change; bootstrap over sentences). The
    effect of redundant heads shows only when they are removed together.
    """
    transformer, done = model.transformer, 0
    whole = torch.ones(1, len(attentions(transformer.config)), transformer.config.heads)
    outcomes = []
    for part in batch.parts():
        with threads_for(transformer.config, batch.pass_tokens):
            before = _outcomes(transformer, part, whole, None)  # (2, 1, N)
            with applied(transformer, interventions, means):
                after = _outcomes(transformer, part, whole, None)
        outcomes.append(torch.cat([before, after, after - before], 1))  # (2, 3, N)
        done += len(part)
        progress(done / len(batch))
    rows = {}
    for name, change in _means(outcomes, batch).items():
        low, high = change.interval()
        rows[name] = [*change.mean, low[2], high[2]]
    columns = ["before", "after", "change", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def remove_sites(
    model: ExplorableModel, batch: EvaluationBatch
) -> dict[str, dict[str, list[float]]]:
    """All heads of a site removed together: by site, loss and exact as [before, after].

    Compared with the effect of each head alone it shows whether heads are redundant.
    """
    heads = all_heads(model.transformer.config)
    found = {}
    for site in dict.fromkeys(head.site for head in heads):
        removed = Interventions.gather(ablate=[head for head in heads if head.site == site])
        rows = effect(model, batch, removed)
        found[site] = {
            name: [float(rows.before[name]), float(rows.after[name])] for name in rows.index
        }
    return found


def _means(outcomes: list[Tensor], batch: EvaluationBatch) -> dict[str, PerExampleMean]:
    """Loss per token and exact match per sentence, from the `_outcomes` of each part."""
    loss, exact = torch.cat(outcomes, -1).numpy()  # (…, N) each
    tokens = torch.cat([(part.labels != PAD).sum(1) for part in batch.parts()]).double()
    counts = np.broadcast_to(tokens.numpy()[:, None], loss.T.shape)
    return {
        "loss": PerExampleMean(loss.T, counts),
        "exact": PerExampleMean(exact.T, np.ones_like(counts)),
    }


def _groups(config: ModelConfig, variant: str, part: EvaluationBatch) -> Iterator[Tensor]:
    """Gates (V, attention, head) for every head, as many at once as one pass may have.

    Encoder heads and decoder heads never share a pass: only the former change the memory.
    """
    rows = LARGEST_PASS // (part.labels.size(1) * config.target_vocabulary * len(part))
    fitting = max(1, min(rows, MOST_ROWS // len(part)))
    order = attentions(config)
    gates = {True: list[Tensor](), False: list[Tensor]()}
    for site, layer, head in all_heads(config):
        gate = torch.ones(len(order), config.heads)
        if variant == "only":
            gate[[number for number, (other, _) in enumerate(order) if other == site]] = 0
        gate[order.index((site, layer)), head] = float(variant == "only")
        gates[site == "encoder"].append(gate)
    for some in gates.values():
        for start in range(0, len(some), fitting):
            yield torch.stack(some[start : start + fitting])


def _outcomes(
    model: Transformer, part: EvaluationBatch, gates: Tensor, fills: Tensor | None
) -> Tensor:
    """Summed loss and exact match of each sentence under each of the gates: (2, V, N) float64."""
    variants, size = len(gates), len(part)
    mask = padding_mask(part.source)  # (N, 1, 1, S)
    rows = gates.repeat_interleave(size, 0)  # (V × N, attention, head)
    with gated(model, rows, fills):
        if bool((gates[:, : model.config.encoder_layers] == 1).all()):
            memory = model.encode(part.source, mask).repeat(variants, 1, 1)
        else:
            memory = model.encode(part.source.repeat(variants, 1), mask.repeat(variants, 1, 1, 1))
        queries = part.queries.repeat(variants, 1)
        logits = model.decode(queries, memory, mask.repeat(variants, 1, 1, 1))  # (V × N, T, V)
    labels = part.labels.repeat(variants, 1)  # (V × N, T)
    loss = token_losses(logits, labels)
    right = (logits[..., EOS:].argmax(-1) + EOS == labels) | (labels == PAD)
    outcomes = torch.stack([loss.double().sum(1), right.all(1).double()])
    return outcomes.view(2, variants, size)
