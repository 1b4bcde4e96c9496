"""The head that the output of one text depends on most."""

import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.contributions.repeated_pass import chosen_ids, fed_ids
from explorer.model.explorable import ExplorableModel
from explorer.model.intervention_hooks import MeanOutputs, applied, gated
from explorer.model.threads import threads_for


@torch.inference_mode()
def decisive_head(
    model: ExplorableModel,
    trace: Trace,
    interventions: Interventions,
    means: MeanOutputs | None = None,
) -> Head:
    """The head without which the tokens of `trace` are least probable, given those before them.

    interventions, means: those that `trace` was made with, which stay in force.

    Raises `VocabularyError` as `fed_ids`.
    """
    heads, transformer = model.transformer.config.all_heads, model.transformer
    source, fed = fed_ids(model, trace)
    chosen = chosen_ids(trace)
    found = []
    with (
        applied(transformer, interventions, means),
        threads_for(transformer.config.parameters, source.size(1)),
    ):
        for gates in torch.split(1 - torch.eye(len(heads)), transformer.config.heads):
            count = len(gates)
            with gated(transformer, gates):
                logits = transformer(source.expand(count, -1), fed.expand(count, -1))
            found.append(_log_probability(logits, chosen.expand(count, -1)))
    return heads[int(torch.cat(found).argmin())]


def _log_probability(logits: Tensor, chosen: Tensor) -> Tensor:
    """Sum over the steps of ln p of the chosen tokens (B, T): (B,)."""
    own = logits.log_softmax(-1).gather(-1, chosen[..., None])
    return own.sum((1, 2))
