"""Copying: whether a head makes the token that it looks at more likely (its OV circuit).

What a head gives out for a token goes along the direct path to the logits; what later layers make
of it is left out. Of one token it is compared with what the head gives out for all others, so that
biases and what is alike for all of them drop out. The score is the share of the other tokens whose
logit is raised less than that of the token itself: 1 = always copies, 0.5 = by chance, 0 = always
suppresses. Sources: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Wang
et al. 2022, arXiv 2211.00593, who find name movers and their negatives by it.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.core.sites import Head
from explorer.heads.circuits.direct_path import WRITES, DirectPath
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import LayerAttention, MeasurableModel

_TOGETHER = 512  # rows with logits in memory at once


@torch.no_grad()
def copying_by_weights(paths: Sequence[DirectPath]) -> dict[Head, PerExampleMean]:
    """The score (token, 1) of each head on a direct path."""
    found: dict[Head, PerExampleMean] = {}
    for one in paths:
        maps = one.to_logits()
        for head, outputs in enumerate(one.outputs.unbind(1)):  # (N, K)
            score = _raised_less(outputs - outputs.mean(0), maps[head], one.own)
            found[Head(one.site, one.layer, head)] = score
    return found


@torch.no_grad()
def copying_in_sentences(
    model: MeasurableModel, paths: Sequence[DirectPath], batch: EvaluationBatch
) -> dict[Head, PerExampleMean]:
    """The score (query, 1) of each head, of the token that a query looks at most."""
    means = mean_outputs(model, batch).outputs
    seen = _looked_at(model, batch)
    found: dict[Head, PerExampleMean] = {}
    for one in paths:
        place = one.site, one.layer
        ids, outputs = (torch.cat(parts, 1) for parts in zip(*seen[place], strict=True))
        added = outputs - means[place][:, None]  # (H, rows, K)
        own, maps = _numbers(one.read, ids), one.to_logits()
        for head in range(len(added)):
            counted = own[head] >= 0
            score = _raised_less(added[head][counted].float(), maps[head], own[head][counted])
            found[Head(*place, head)] = score
    return found


def _looked_at(
    model: MeasurableModel, batch: EvaluationBatch
) -> dict[tuple[str, int], list[tuple[Tensor, Tensor]]]:
    """By attention, for parts of a batch: the id of the token that a query looks at most (H, rows),
    and the outputs of the heads (H, rows, K)."""
    seen: dict[tuple[str, int], list[tuple[Tensor, Tensor]]] = {}
    for part in batch.parts():
        for layer in model.passes.attentions(part):
            if layer.site in WRITES:
                seen.setdefault((layer.site, layer.layer), []).append(_rows(part, layer))
    return seen


def _rows(batch: EvaluationBatch, layer: LayerAttention) -> tuple[Tensor, Tensor]:
    keys = batch.source if layer.site == "cross" else batch.queries
    assert keys is not None
    largest = layer.weights.argmax(-1)  # (N, H, Q)
    ids = keys.ids[:, None].expand(-1, largest.size(1), -1).gather(-1, largest)
    real = layer.unmasked.any(-1)  # (N, Q)
    return ids.transpose(0, 1)[:, real], layer.output.transpose(0, 1)[:, real]


def _numbers(read: Tensor, ids: Tensor) -> Tensor:
    """The number in `read` of each of `ids`; −1 where it has none."""
    size = int(max(read.max(), ids.max())) + 1
    numbers = read.new_full((size,), -1)
    numbers[read] = torch.arange(len(read))
    return numbers[ids]


def _raised_less(added: Tensor, maps: Tensor, own: Tensor) -> PerExampleMean:
    """The share of the other tokens whose logit is raised less than that of a row's own: (N, 1).

    added: (N, K), what a head gives out. maps: (K, V). own: (N,) numbers of tokens in V. Of equal
    ones half count.
    """
    shares = [torch.empty(0)]
    for start in range(0, len(added), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        raised = added[part] @ maps  # (n, V)
        level = raised.gather(1, own[part, None])
        less, equal = (raised < level).sum(-1), (raised == level).sum(-1) - 1
        shares.append((less + equal / 2) / (maps.size(1) - 1))
    total = torch.cat(shares).double().cpu().numpy()[:, None]
    return PerExampleMean(total, np.ones_like(total))
