"""Each head removed in turn, or kept alone: what the model loses without it, or with it only."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.vocabulary import EOS, PAD
from explorer.heads.bootstrap import Tally
from explorer.heads.evaluation_batches import Progress, Sentences, quiet, token_losses
from explorer.heads.head_report import KEYS
from explorer.model.apply_interventions import Means, applied, gated
from explorer.model.attention_paths import all_heads, attentions
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer import Transformer, padding_mask

VARIANTS = ("zero", "mean", "only")
"""Removed by zero; removed by its mean; all other heads of its site removed by zero."""

LARGEST_PASS = 2**24
"""Logits of one pass, 64 MB of them."""

MOST_ROWS = 1024


@torch.inference_mode()
def ablation(
    model: ExplorableModel,
    sentences: Sentences,
    means: Means,
    progress: Progress = quiet,
    variants: Sequence[str] = VARIANTS,
) -> pd.DataFrame:
    """What removing each head changes, one row a head, with bootstrap intervals.

    For each of `variants`, as in zero_loss, zero_exact: the mean loss of a target token (nats)
    and the share of outputs that are right to their end, each minus what the whole model has.
    An output is right when every token is the most probable one after those before it, which
    is when greedy decoding finds it. means: of which batch the mean variant puts in.

    Source: Michel et al. 2019, arXiv 1905.10650; "only", because two heads that do the same
    each look idle when one is removed.
    """
    transformer = model.transformer
    size = len(all_heads(transformer.config))
    passes, done = len(variants) * size * len(sentences), 0
    changes: dict[str, list[Tensor]] = {name: [] for name in variants}
    whole = torch.ones(1, len(attentions(transformer.config)), transformer.config.heads)
    for part in sentences.parts():
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
        for what, tally in _tallies(of_parts, sentences).items():
            columns = {
                "": tally.mean,
                **dict(zip(("_low", "_high"), tally.interval(), strict=True)),
            }
            table = table.assign(**{f"{name}_{what}{end}": own for end, own in columns.items()})
    return table


@torch.inference_mode()
def effect(
    model: ExplorableModel,
    sentences: Sentences,
    interventions: Interventions,
    means: Means | None = None,
    progress: Progress = quiet,
) -> pd.DataFrame:
    """What any interventions together change over a batch: rows loss and exact.

    Columns: before, after, change, low, high (of the change; bootstrap over sentences). What
    heads do that stand in for each other shows only when they go together.
    """
    transformer, done = model.transformer, 0
    whole = torch.ones(1, len(attentions(transformer.config)), transformer.config.heads)
    outcomes = []
    for part in sentences.parts():
        before = _outcomes(transformer, part, whole, None)  # (2, 1, N)
        with applied(transformer, interventions, means):
            after = _outcomes(transformer, part, whole, None)
        outcomes.append(torch.cat([before, after, after - before], 1))  # (2, 3, N)
        done += len(part)
        progress(done / len(sentences))
    rows = {}
    for name, tally in _tallies(outcomes, sentences).items():
        low, high = tally.interval()
        rows[name] = [*tally.mean, low[2], high[2]]
    columns = ["before", "after", "change", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def together(model: ExplorableModel, sentences: Sentences) -> dict[str, dict[str, list[float]]]:
    """What is left without all heads of a site: by site, loss and exact as [before, after].

    Beside the effect of each head alone it shows whether they stand in for each other.
    """
    heads = all_heads(model.transformer.config)
    found = {}
    for site in dict.fromkeys(head.site for head in heads):
        removed = Interventions.gather(ablate=[head for head in heads if head.site == site])
        rows = effect(model, sentences, removed)
        found[site] = {
            name: [float(rows.before[name]), float(rows.after[name])] for name in rows.index
        }
    return found


def _tallies(outcomes: list[Tensor], sentences: Sentences) -> dict[str, Tally]:
    """Loss a token and exact match a sentence, from what `_outcomes` said of each part."""
    loss, exact = torch.cat(outcomes, -1).numpy()  # (…, N) each
    tokens = torch.cat([(part.labels != PAD).sum(1) for part in sentences.parts()]).double()
    counts = np.broadcast_to(tokens.numpy()[:, None], loss.T.shape)
    return {"loss": Tally(loss.T, counts), "exact": Tally(exact.T, np.ones_like(counts))}


def _groups(config: ModelConfig, variant: str, part: Sentences) -> Iterator[Tensor]:
    """Gates (V, attention, head) for every head, as many at once as one pass may have.

    Heads of the encoder and those behind it never share one: only the former change the memory.
    """
    rows = LARGEST_PASS // (part.labels.size(1) * config.target_vocabulary * len(part))
    room = max(1, min(rows, MOST_ROWS // len(part)))
    places = attentions(config)
    gates = {True: list[Tensor](), False: list[Tensor]()}
    for site, layer, head in all_heads(config):
        gate = torch.ones(len(places), config.heads)
        if variant == "only":
            gate[[number for number, (other, _) in enumerate(places) if other == site]] = 0
        gate[places.index((site, layer)), head] = float(variant == "only")
        gates[site == "encoder"].append(gate)
    for some in gates.values():
        for start in range(0, len(some), room):
            yield torch.stack(some[start : start + room])


def _outcomes(model: Transformer, part: Sentences, gates: Tensor, fills: Tensor | None) -> Tensor:
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
