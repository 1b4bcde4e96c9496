"""Direct logit attribution: what each head adds to the choice between two tokens.

The model chooses a token y over the runner-up y' by the difference of their logits, which is
log p(y) − log p(y'): the softmax's normaliser cancels. A logit is a product with the decoder's
output, and with the scale of every LayerNorm frozen at this pass's value that output is a sum
over all that was added to the residual stream. Source: Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits"; Wang et al. 2022, arXiv 2211.00593.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.heads.repeated_pass import captured_again
from explorer.heads.residual_stream import (
    Array,
    Stream,
    Sublayer,
    as_array,
    residual_stream,
    trained_here,
    whole_trace,
)
from explorer.model.attention_paths import path
from explorer.model.explorable import ExplorableModel
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for

_SITES = ("decoder", "cross")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LogitAttribution:
    """What makes each step choose its token and not the runner-up; parts + remainder = difference.

    trace: of the pass, captured in full at "decoder" and "cross".
    runner_up: (step,) labels of the most probable tokens but the chosen ones, which are
        `trace.predicted_tokens`.
    parts: DataFrame, one row for each head of each step: step (1, 2, …), layer, site ("decoder"
        or "cross"), head, value in nats; above 0 speaks for the chosen token.
    rest: DataFrame, what comes from elsewhere: step, layer (missing where there is none), part,
        value in nats. part: "token" and "position", the embedding; "feed_forward" of each layer,
        with its bias; "attention_bias", the b_O of its two attentions; "norm_bias", of its
        LayerNorms, or without a layer of the last one; "logit_bias".
    difference: (step,) the logit of the chosen token minus that of the runner-up, in nats;
        negative where a forced token is not the most probable one.
    """

    trace: Trace
    runner_up: tuple[str, ...]
    parts: pd.DataFrame
    rest: pd.DataFrame
    difference: NDArray[np.float64]

    @property
    def remainder(self) -> NDArray[np.float64]:
        """(step,) the sum of `rest`."""
        sums: NDArray[np.float64] = self.rest.groupby("step").value.sum().to_numpy()
        return sums

    def __repr__(self) -> str:
        heads = len(self.parts) // len(self.difference)
        return f"LogitAttribution({self.trace.text!r}: {len(self.difference)} steps, {heads} heads)"


def logit_attribution(model: MeasurableModel, text: str, **options: Any) -> LogitAttribution:
    """The part of every head of the decoder in log p(chosen) − log p(runner-up), at each step.

    The part of head h is (z_h W_O^h) · d, where z_h is its output and d the difference of the two
    rows of the map to logits, taken back through every LayerNorm that follows: with pre-norm the
    last one, with post-norm that of each sublayer above, too.

    It ignores indirect effects: what a head writes is also read by the attention and the
    feed-forward of later layers, and that counts as theirs; what the heads of the encoder do
    counts as the cross-attention's that reads it. The scales are frozen, though each head has
    its share in them. Cost: one pass captured in full.

    options: of `trace`, such as target, force or ablate, but not capture, layers and sites.

    Raises what `trace` does, `ConfigError` on such an option, and `TraceError` for a model of the
    library, whose residual stream is not captured.
    """
    model = trained_here(model)
    return _attribution(model, whole_trace(model, text, options, _SITES))


def attribution_of(model: ExplorableModel, shown: Trace) -> LogitAttribution:
    """The same of a trace of `model` without interventions, whose text is not decoded again.

    Raises what `captured_again` does.
    """
    return _attribution(model, captured_again(model, shown, _SITES))


def _attribution(model: ExplorableModel, trace: Trace) -> LogitAttribution:
    """Of a trace captured in full at `_SITES`."""
    chosen, runner_up, labels = _candidates(trace)
    logits = model.transformer.logits
    with threads_for(model.transformer.config.parameters, len(chosen)):
        stream = residual_stream(model, trace, "decoder")
        direction, bias = (
            as_array(weights[chosen.tolist()]) - as_array(weights[runner_up.tolist()])
            for weights in (logits.weight, logits.bias)
        )
        parts, rest = _attributed(model, trace, stream, direction)
    rest.append(_rest(bias, "logit_bias"))
    rows = np.arange(len(chosen))
    of_step = trace.arrays["logits"].astype(np.float64)
    return LogitAttribution(
        trace,
        labels,
        _by_head(parts),
        _summed(rest),
        of_step[rows, chosen] - of_step[rows, runner_up],
    )


def _candidates(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Ids of the chosen token and of the runner-up of each step, and the runner-up's labels."""
    steps = trace.steps()
    others = steps[~steps.chosen].sort_values(["step", "rank"]).drop_duplicates("step")
    chosen = steps[steps.chosen].sort_values("step").id.to_numpy()
    return chosen, others.id.to_numpy(), tuple(others.token)


def _attributed(
    model: ExplorableModel, trace: Trace, stream: Stream, direction: Array
) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """The parts of heads and the rest in the product of the stack's output with `direction`
    (step, D), which goes down through the stack."""
    parts, rest = list[pd.DataFrame](), list[pd.DataFrame]()
    if stream.last:
        rest.append(_rest(direction @ stream.last.bias, "norm_bias"))
        direction = stream.last.before(direction)
    for sublayer in reversed(stream.sublayers):
        if not stream.last:
            rest.append(_rest(direction @ sublayer.norm.bias, "norm_bias", sublayer.layer))
            direction = sublayer.norm.before(direction)
        if sublayer.kind in SITES:
            heads, bias = _heads(model, trace, sublayer, direction)
            parts.append(heads)
            rest.append(_rest(bias, "attention_bias", sublayer.layer))
        else:
            added = (sublayer.output * direction).sum(-1)
            rest.append(_rest(added, "feed_forward", sublayer.layer))
    rest.append(_rest((stream.tokens * direction).sum(-1), "token"))
    rest.append(_rest((stream.positions * direction).sum(-1), "position"))
    return parts, rest


def _heads(
    model: ExplorableModel, trace: Trace, sublayer: Sublayer, direction: Array
) -> tuple[pd.DataFrame, Array]:
    """The part of each head of an attention, and (step,) that of its b_O."""
    site, layer = sublayer.kind, sublayer.layer
    output: Any = model.transformer.get_submodule(path(site, layer, "output"))
    mixed = trace.head_output(site)[layer].astype(np.float64)  # (head, step, K)
    # In torch, which keeps to one thread for small work; the threads of NumPy wait for each other.
    before = (torch.from_numpy(direction) @ output.weight.detach().double().cpu()).numpy()
    by_head = before.reshape(len(direction), len(mixed), -1)
    values = np.einsum("hsk,shk->sh", mixed, by_head)
    steps, heads = np.indices(values.shape)
    columns = {"step": steps.ravel() + 1, "layer": layer, "site": site, "head": heads.ravel()}
    return pd.DataFrame({**columns, "value": values.ravel()}), direction @ as_array(output.bias)


def _rest(values: Array, part: str, layer: int | None = None) -> pd.DataFrame:
    steps = np.arange(1, len(values) + 1)
    layers = pd.array([layer] * len(values), dtype="Int64")
    return pd.DataFrame({"step": steps, "layer": layers, "part": part, "value": values})


def _by_head(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Of each step the heads of the lowest layer first; `frames` begin with the last attention."""
    table = pd.concat(frames[::-1], ignore_index=True)
    return table.sort_values(["step", "layer"], kind="stable", ignore_index=True)


def _summed(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """The values of the same step, layer and part added."""
    table = pd.concat(frames, ignore_index=True)
    places = ["step", "layer", "part"]
    return table.groupby(places, dropna=False).agg({"value": "sum"}).reset_index()
