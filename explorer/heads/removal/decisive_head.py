"""The head that the output of one text depends on most."""

import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.model.actions import MeanOutputs, gate_actions
from explorer.model.explorable import ExplorableModel, chosen_ids
from explorer.model.points import chained
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

    Raises `VocabularyError` as `ExplorableModel.fed`.
    """
    heads, config = model.transformer.config.all_heads, model.transformer.config
    changed, chosen = model.passes.changed_by(interventions, means), chosen_ids(trace)
    found = []
    with threads_for(config.parameters, len(trace.source_tokens)):
        for gates in torch.split(1 - torch.eye(len(heads)), config.heads):
            actions = chained(changed, gate_actions(heads, gates))
            logits = model.rerun(trace, actions, copies=len(gates)).whole()
            found.append(_log_probability(logits, chosen.expand(len(gates), -1)))
    return heads[int(torch.cat(found).argmin())]


def _log_probability(logits: Tensor, chosen: Tensor) -> Tensor:
    """Sum over the steps of ln p of the chosen tokens (B, T): (B,)."""
    own = logits.log_softmax(-1).gather(-1, chosen[..., None])
    return own.sum((1, 2))
