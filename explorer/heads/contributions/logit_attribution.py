"""Direct logit attribution: the part of each head in the choice between two tokens.

The model chooses a token y over the runner-up y' by the difference of their logits, which is
log p(y) − log p(y'): the softmax's normaliser cancels. A logit is a product with the decoder's
output, and with the scale of every LayerNorm frozen at this pass's value that output is a sum
over all vectors added to the residual stream. Source: Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits"; Wang et al. 2022, arXiv 2211.00593.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.errors import ConfigError
from explorer.core.trace import Trace
from explorer.heads.contributions.frozen_norm import Array, as_array
from explorer.heads.contributions.library_stream import (
    library_logits,
    library_pass,
    library_stream,
)
from explorer.heads.contributions.repeated_pass import captured_again
from explorer.heads.contributions.residual_stream import (
    HeadOutputs,
    Stream,
    residual_stream,
    whole_trace,
)
from explorer.model.explorable import ExplorableModel
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for

_Heads: TypeAlias = tuple[int, str, Array]
"""Layer and site of an attention, and the parts of its heads (step, head)."""

_Rest: TypeAlias = tuple[int | None, str, Array]
"""Layer, if there is one, and name of a part of the rest, and its values (step,)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LogitAttribution:
    """Parts of the logit difference, chosen token minus runner-up, at each step.

    parts + remainder = difference.

    trace: of the pass, captured in full at "decoder" and, unless it is a decoder alone, "cross".
    runner_up: (step,) labels of the most probable token except the chosen one; the chosen tokens
        are `trace.predicted_tokens`.
    parts: DataFrame, one row for each head of each step: step (1, 2, …), layer, site ("decoder"
        or "cross"), head, value in nats; above 0 favours the chosen token.
    rest: DataFrame, all other parts: step, layer (missing if the part has none), part, value in
        nats. part: "token" and "position", the embedding, or "embedding" where a family of the
        library makes it in another way; "feed_forward" of each layer, with its
        bias; "attention_bias", the b_O of its two attentions; "norm_bias", of its LayerNorms, or
        without a layer those of the last one and of the embedding; "logit_bias".
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

    >>> model = explorer.load("checkpoints/reverse.safetensors")
    >>> model.logit_attribution("7 3 9").parts.columns.tolist()
    ['step', 'layer', 'site', 'head', 'value']

    The part of head h is (z_h W_O^h) · d, where z_h is its output and d the difference of the two
    rows of the map to logits, taken back through every LayerNorm that follows: with pre-norm the
    last one, with post-norm that of each sublayer above, too.

    It ignores indirect effects: attention and feed-forward of later layers also read a head's
    output, and this effect counts as theirs; the effect of the encoder's heads counts for the
    cross-attention that reads it. The scales are frozen, though each head has its share in them.
    Cost: one pass captured in full.

    options: of `trace`, such as target, force or ablate, but not capture, layers and sites.

    A model of the library runs once more over the same tokens, its RMSNorms frozen as well. A
    family is refused whose layers are no such sum, or whose logits are no linear map of it.

    Raises what `trace` does, and `ConfigError` on such an option, on a model that predicts no next
    tokens and on such a family.
    """
    trace = whole_trace(model, text, options, _sites(model))
    return _attribution(model, trace, options.get("means"))


def attribution_of(model: MeasurableModel, shown: Trace) -> LogitAttribution:
    """As `logit_attribution`, from a trace of `model` without interventions; decodes nothing again.

    Of the library, the trace of the result is `shown`. Raises what `captured_again` does, and
    `ConfigError` as `logit_attribution`.
    """
    sites = _sites(model)
    if isinstance(model, ExplorableModel):
        shown = captured_again(model, shown, sites)
    return _attribution(model, shown)


def _sites(model: MeasurableModel) -> list[str]:
    """The attention paths of the decoder. Raises `ConfigError` on a model that decodes nothing."""
    found = {head.site for head in model.passes.heads}
    if "decoder" not in found:
        raise ConfigError("no_next_tokens", name=model.name)
    return [site for site in ("decoder", "cross") if site in found]


@dataclass(frozen=True, slots=True, eq=False)
class _LogitRows:
    """Of the chosen tokens or of the runners-up: rows of the map to logits, (step, D), its biases
    and the logits, (step,)."""

    weight: Array
    bias: Array
    logits: Array

    def __sub__(self, other: "_LogitRows") -> "_LogitRows":
        return _LogitRows(
            self.weight - other.weight, self.bias - other.bias, self.logits - other.logits
        )


def _own_rows(model: ExplorableModel, trace: Trace, ids: NDArray[np.int64]) -> _LogitRows:
    logits, rows = model.transformer.logits, ids.tolist()
    found = trace.arrays["logits"].astype(np.float64)[np.arange(len(ids)), ids]
    return _LogitRows(as_array(logits.weight[rows]), as_array(logits.bias[rows]), found)


def _attribution(model: MeasurableModel, trace: Trace, means: Any = None) -> LogitAttribution:
    """Attribution of a trace captured in full at `_sites`; means: of its interventions."""
    chosen, runner_up, labels = _candidates(trace)
    with threads_for(model.passes.parameters, len(chosen)):
        if isinstance(model, ExplorableModel):
            stream = residual_stream(model, trace, "decoder")
            of = [_own_rows(model, trace, ids) for ids in (chosen, runner_up)]
        else:
            found = library_pass(model, trace, means)
            stream = library_stream(found, "decoder")
            of = [_LogitRows(*library_logits(model, found, ids)) for ids in (chosen, runner_up)]
        difference = of[0] - of[1]
        parts, rest = _attributed(stream, difference.weight)
    rest.append((None, "logit_bias", difference.bias))
    return LogitAttribution(trace, labels, _by_head(parts[::-1]), _summed(rest), difference.logits)


def _candidates(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Ids of the chosen token and of the runner-up of each step, and the runner-up's labels."""
    steps = trace.steps()
    others = steps[~steps.chosen].sort_values(["step", "rank"]).drop_duplicates("step")
    chosen = steps[steps.chosen].sort_values("step").id.to_numpy()
    return chosen, others.id.to_numpy(), tuple(others.token)


def _attributed(stream: Stream, direction: Array) -> tuple[list[_Heads], list[_Rest]]:
    """Parts of the heads, the last attention first, and the rest.

    Together they sum to the product of the stack's output with `direction` (step, D). The
    direction is taken down through the stack.
    """
    parts, rest = list[_Heads](), list[_Rest]()
    if stream.last:
        rest.append((None, "norm_bias", direction @ stream.last.bias))
        direction = stream.last.before(direction)
    for sublayer in reversed(stream.sublayers):
        if not stream.last:
            rest.append((sublayer.layer, "norm_bias", direction @ sublayer.norm.bias))
            direction = sublayer.norm.before(direction)
        if sublayer.heads:
            heads, bias = _heads(sublayer.heads, direction)
            parts.append((sublayer.layer, sublayer.kind, heads))
            rest.append((sublayer.layer, "attention_bias", bias))
        else:
            added = (sublayer.output * direction).sum(-1)
            rest.append((sublayer.layer, "feed_forward", added))
    for name, vectors in stream.embedding.items():
        part = "norm_bias" if name == "bias" else name
        rest.append((None, part, (vectors * direction).sum(-1)))
    return parts, rest


def _heads(heads: HeadOutputs, direction: Array) -> tuple[Array, Array]:
    """Part of each head of an attention, (step, head), and part of its b_O, (step,)."""
    # In torch, which keeps to one thread for small work; the threads of NumPy wait for each other.
    weight = heads.weight.detach().double().cpu()
    before = (torch.from_numpy(direction) @ weight.T).numpy()
    by_head = before.reshape(len(direction), len(heads.mixed), -1)
    values = np.einsum("hsk,shk->sh", heads.mixed, by_head)
    return values, direction @ as_array(heads.bias)


def _by_head(parts: list[_Heads]) -> pd.DataFrame:
    """One row for each head of each step, in the order of `parts`."""
    heads = [values.shape[1] for _, _, values in parts]
    steps = len(parts[0][2])
    return pd.DataFrame(
        {
            "step": np.repeat(np.arange(1, steps + 1), sum(heads)),
            "layer": np.tile(np.repeat([layer for layer, _, _ in parts], heads), steps),
            "site": np.tile(np.repeat([site for _, site, _ in parts], heads), steps),
            "head": np.tile(np.concatenate([np.arange(count) for count in heads]), steps),
            "value": np.concatenate([values for _, _, values in parts], 1).ravel(),
        }
    )


def _summed(rest: list[_Rest]) -> pd.DataFrame:
    """One row for each step, layer and part, with equal ones added; rows without a layer last."""
    sums: dict[tuple[int | None, str], Array] = {}
    for layer, part, values in rest:
        sums[layer, part] = sums.get((layer, part), 0.0) + values
    places = sorted(sums, key=lambda place: (place[0] is None, place[0] or 0, place[1]))
    steps = len(rest[0][2])
    return pd.DataFrame(
        {
            "step": np.repeat(np.arange(1, steps + 1), len(places)),
            "layer": pd.array([layer for layer, _ in places] * steps, dtype="Int64"),
            "part": [part for _, part in places] * steps,
            "value": np.stack([sums[place] for place in places], 1).ravel(),
        }
    )
