"""Copying: whether a head makes the token that it looks at more likely (its OV circuit).

What a head gives out for a token goes through W_O straight to the logits; what later layers make of
it is left out. Of one token it is compared with what the head gives out for all others, so that
biases and what is alike for all of them drop out. The score is the share of the other tokens whose
logit is raised less than that of the token itself: 1 = always copies, 0.5 = by chance, 0 = always
suppresses. Sources: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Wang
et al. 2022, arXiv 2211.00593, who find name movers and their negatives by it.
"""

from itertools import dropwhile
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.core.sites import Head
from explorer.core.vocabulary import SPECIALS, Vocabulary
from explorer.heads.circuits.silenced import captured_alone
from explorer.heads.metrics.bootstrap import PerExampleMean, concatenate
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import path, residual_path
from explorer.model.transformer import Residual, Transformer
from explorer.model.transformer_passes import fed_sides

FEWEST_SHARED = 5
"""With fewer tokens in both vocabularies copying has no score."""

MOST_TOKENS = 500
"""Tokens over which copying by weights is averaged, at most."""

WRITES = ("decoder", "cross")
"""The sites whose heads write to the logits."""

_TOGETHER = 1024  # rows with logits in memory at once


@torch.inference_mode()
def copying_by_weights(model: ExplorableModel) -> dict[Head, PerExampleMean]:
    """The score (token, 1) of each head that writes to the logits.

    Over the vocabulary, or `MOST_TOKENS` spread evenly over it, whose logits are compared with all.
    """
    found: dict[Head, PerExampleMean] = {}
    for site in WRITES:
        read, written = shared_ids(model, site)
        if len(read) < FEWEST_SHARED:
            continue
        own = torch.arange(0, len(written), -(-len(written) // MOST_TOKENS))
        layers = captured_alone(model.transformer, site, read[own, None], "values")
        for layer, values in enumerate(layers):
            maps = logit_maps(model.transformer, site, layer)[..., written]  # (H, K, V)
            for head, tokens in enumerate(values[:, :, 0].unbind(1)):  # (N, K)
                added = tokens - tokens.mean(0)
                found[Head(site, layer, head)] = _raised_less(added, maps[head], own)
    return found


@torch.inference_mode()
def copying_in_sentences(
    model: ExplorableModel, batch: EvaluationBatch
) -> dict[Head, PerExampleMean]:
    """The score (query, 1) of each head, of the token that a query looks at most."""
    means = mean_outputs(model, batch).outputs
    found: dict[Head, list[PerExampleMean]] = {}
    for part in batch.parts():
        keys = dict(zip(("cross", "decoder"), fed_sides(part), strict=True))
        for layer in model.passes.attentions(part):
            if layer.site not in WRITES:
                continue
            read, written = shared_ids(model, layer.site)
            if len(read) < FEWEST_SHARED:
                continue
            maps = logit_maps(model.transformer, layer.site, layer.layer)[..., written]
            looked_at = layer.weights.argmax(-1)  # (N, H, Q)
            ids = keys[layer.site].ids[:, None].expand(-1, looked_at.size(1), -1)
            own = _places(read, ids.gather(-1, looked_at))  # (N, H, Q), −1 = no shared token
            counted = (own >= 0) & layer.unmasked.any(-1)[:, None]
            mean = means[layer.site, layer.layer][:, None]  # (H, 1, K)
            for head, added in enumerate((layer.output - mean).unbind(1)):
                rows = counted[:, head]  # (N, Q)
                score = _raised_less(added[rows].float(), maps[head], own[:, head][rows])
                found.setdefault(Head(layer.site, layer.layer, head), []).append(score)
    return {head: concatenate(parts) for head, parts in found.items()}


def shared_ids(model: ExplorableModel, site: str) -> tuple[Tensor, Tensor]:
    """Ids (V,) of the tokens that a head can both look at and write, as read and as written.

    Special tokens, and all but one of those with the same label, are left out.
    """
    reads = model.target_vocabulary if site == "decoder" else model.source_vocabulary
    read, written = (_by_label(side) for side in (reads, model.target_vocabulary))
    shared = [label for label in read if label in written and model.transformer.config.layers(site)]
    ids = ([side[label] for label in shared] for side in (read, written))
    return tuple(torch.tensor(side, dtype=torch.long) for side in ids)  # type: ignore[return-value]


def logit_maps(model: Transformer, site: str, layer: int) -> Tensor:
    """(H, K, V): how each number that a head gives out changes the logits on the direct path.

    A LayerNorm on the path is linear at a fixed scale, which is left out: it is alike for all
    tokens.
    """
    projection: Any = model.get_submodule(path(site, layer, "output"))
    weight: Tensor = projection.weight.T  # (H · K, D)
    for norm in _norms_after(model, site, layer):
        weight = (weight - weight.mean(-1, keepdim=True)) * norm.weight
    return (weight @ model.logits.weight.T).view(model.config.heads, -1, len(model.logits.weight))


def _norms_after(model: Transformer, site: str, layer: int) -> list[nn.LayerNorm]:
    """The LayerNorms between the output of an attention and the logits, the nearest first."""
    if model.config.norm == "pre":
        return [model.decoder.norm]  # type: ignore[list-item]  # the last one
    own = model.get_submodule(residual_path(site, layer, "input").rpartition(".")[0])
    norms = [module for module in model.decoder.modules() if isinstance(module, Residual)]
    return list(dropwhile(lambda norm: norm is not own, norms))


def _by_label(vocabulary: Vocabulary) -> dict[str, int]:
    ids = range(len(SPECIALS), len(vocabulary))
    return dict(zip(vocabulary.labels(ids), ids, strict=True))


def _places(read: Tensor, ids: Tensor) -> Tensor:
    """The index in `read` of each of `ids`; −1 where it has none."""
    size = int(max(read.max(), ids.max())) + 1
    places = read.new_full((size,), -1)
    places[read] = torch.arange(len(read))
    return places[ids]


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
