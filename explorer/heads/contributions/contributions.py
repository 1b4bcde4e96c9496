"""How much each token of source and prefix contributes to each output token of one sentence."""

import torch

from explorer.heads.contributions.contributions_result import Contributions
from explorer.heads.contributions.layer_contributions import contribution_matrix, refuse_method
from explorer.model.measurable import MeasurableModel

METHODS = ("alti", "value_norm", "value_norm_residual", "rollout", "leave_one_out")


@torch.inference_mode()
def contributions(
    model: MeasurableModel,
    text: str,
    method: str = "alti",
    *,
    target: str | None = None,
    prefix: str | None = None,
) -> Contributions:
    """Contribution of each token of source and prefix to each output token of `text`.

    >>> model = explorer.load("checkpoints/reverse.safetensors")
    >>> model.contributions("7 3 9").matrix.sum(-1).round(3)  # rows: output tokens
    array([1., 1., 1., 1.])

    target, prefix: as in `trace`, the output or its beginning, or of a decoder alone the rest;
        without, the model decodes it. Below, S and T are the tokens of both sides, D the width.
    method:

    alti: ALTI+. In each attention y_i = Σ_j T_i(x_j) + biases, exactly, with the residual
        connection in T_i(x_i); c_ij ∝ max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), rows sum to 1. Layers are
        joined by products, the source comes in through those of the encoder. Ignores the layers
        between attentions: a feed-forward network mixes within one position alone, but may
        amplify or delete its input. Cost: one pass, and Q · K · D numbers in each attention.
        Ferrando et al. 2022, arXiv 2205.11631.
    value_norm_residual: the same with c_ij ∝ ‖T_i(x_j)‖₂, so vectors that cancel out count, too.
        Ignores and costs the same. Kobayashi et al. 2021, arXiv 2109.07152.
    value_norm: ‖Σ_h A_h[i, j] (x_j W_V + b_V) W_O‖₂ in cross- and self-attention of each decoder
        layer, a row of a layer divided by its sum; the mean over layers. Ignores the residual
        connections and the mixing in the encoder and lower layers. Costs the same. Kobayashi et
        al. 2020, arXiv 2004.10102.
    rollout: c_ij = (mean of A_h[i, j] over heads) / 2, and 1 / 2 for the residual connection,
        joined as in ALTI+. Ignores values, W_O and the true part of the residual connection, too.
        Cost: one pass. Abnar & Zuidema 2020, arXiv 2005.00928.
    leave_one_out: the fall of ln p (nats) of the output token when no position can attend to a
        token, in any layer; its own row starts without its token vector. A measured effect, so it
        checks the other methods, but for one token at a time: if either of two tokens suffices,
        both count little. Rows do not sum to 1; negative if a token lowers the probability. Cost:
        S + T passes, in batches.

    A model of the library runs once more over the tokens of its trace. In an encoder alone,
    value_norm is the mean over its layers.

    Raises `ConfigError` on a method that does not exist or that `model` does not allow, such as one
    whose layers are no sums, and `VocabularyError` on a text that cannot be read or is too long.
    """
    refuse_method(method, METHODS)
    trace = model.trace(text, target=target, prefix=prefix)
    matrix = contribution_matrix(model, trace, method)
    predicted = trace.predicted_tokens or trace.target_tokens or trace.source_tokens
    sides = trace.source_tokens, trace.target_tokens
    return Contributions(method, model.name, *sides, predicted, matrix)
