"""How much each key contributes to each query in every attention of a trace, by ALTI."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.core.trace import Trace
from explorer.heads.attention_sublayers import attention_sublayers
from explorer.heads.contribution_rollout import closeness, rolled_out, shares_of
from explorer.heads.repeated_pass import fed_ids
from explorer.model.explorable import ExplorableModel
from explorer.model.threads import threads_for


@dataclass(frozen=True, slots=True, eq=False)
class LayerContributions:
    """Contributions in each attention of a trace, and in the whole model.

    layers: by site (layer, query, key) float64, of the layers that the trace has; 0 at masked
        cells, also where padding keeps itself. Other rows of self-attention sum to 1, the residual
        connection is on the diagonal; what is missing to 1 in a row of cross-attention is that of
        its residual connection.
    source_share: (T,) the part of the source in each output token, 0 to 1; the rest is that of the
        prefix. As `Contributions.source_share`.
    """

    layers: Mapping[str, NDArray[np.float64]]
    source_share: NDArray[np.float64]


@torch.inference_mode()
def layer_contributions(model: ExplorableModel, trace: Trace) -> LayerContributions:
    """The contributions to a trace of `model` without interventions, by ALTI; see `contributions`.

    Padding is part of the pass, as in the trace, and contributes nothing to a token. Raises
    `VocabularyError` on a trace of a text that `model` cannot read.
    """
    source, target = fed_ids(model, trace)
    tokens = max(source.size(1), target.size(1))
    with threads_for(model.transformer.config.parameters, tokens):
        sublayers = attention_sublayers(model.transformer, source, target)
        shares = [(one.site, one.layer, shares_of(one, closeness)) for one in sublayers]
    whole = rolled_out((site, of_keys) for site, _, of_keys in shares)
    layers = {}
    for site in trace.sites:
        keys = trace.attention(site).shape[-1]
        found = {layer: one[:, :keys].numpy() for at, layer, one in shares if at == site}
        shown = np.stack([found[number] for number in trace.layer_numbers(site)])
        layers[site] = np.where(trace.mask(site), shown, 0)
    return LayerContributions(layers, whole[:, : source.size(1)].sum(-1).numpy())
