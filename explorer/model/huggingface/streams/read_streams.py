"""The residual streams that were read along one pass of a model of the library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.model.huggingface.streams.stream_calls import AttentionCall, NormCall
from explorer.model.row_logits import RowLogits


@dataclass(frozen=True, slots=True, eq=False)
class ReadSublayer:
    """A sublayer and its residual connection.

    kind: the site of an attention, or "feed_forward".
    inputs: (T, D), the stream before it; added: what it adds.
    norm: of `inputs` with pre-norm, of the sum with post-norm.
    attention: None for a feed-forward network.
    pre: whether it is with pre-norm.
    """

    kind: str
    layer: int
    inputs: Tensor
    added: Tensor
    norm: NormCall
    attention: AttentionCall | None
    pre: bool

    @property
    def after(self) -> Tensor:
        """(T, D), the stream behind it."""
        return self.inputs + self.added if self.pre else self.norm.output


@dataclass(frozen=True, slots=True, eq=False)
class ReadStack:
    """The residual stream of one stack.

    embedded: (T, D) by source, the embeddings of the tokens, with their scale, and those of
        positions and segments together; empty if the first sublayer reads something else.
    embedding_norm: of their sum; None without one.
    last: the norm behind the last sublayer with pre-norm; None with post-norm.
    """

    sublayers: tuple[ReadSublayer, ...]
    last: NormCall | None
    embedded: Mapping[str, Tensor]
    embedding_norm: NormCall | None

    @property
    def embedding(self) -> Tensor:
        """(T, D), what the first sublayer reads."""
        return self.sublayers[0].inputs

    @property
    def output(self) -> Tensor:
        """(T, D), of the stack, its last norm included."""
        return (self.last or self.sublayers[-1].norm).output

    @property
    def layer_outputs(self) -> list[Tensor]:
        """Of each layer, (T, D), as the map to logits would read it from the last one."""
        ends = [one for one in self.sublayers if one.kind == "feed_forward"]
        if self.last is None:
            return [one.norm.output for one in ends]
        norm = self.last.module
        summed = [(one.inputs + one.added).to(norm.weight) for one in ends]
        return [norm(one[None])[0].float().cpu() for one in summed]


@dataclass(frozen=True, slots=True, eq=False)
class LogitMap:
    """scale · weight x + bias, from the output of the decoder to logits.

    weight: (V, D). bias: (V,), or None.
    """

    weight: Tensor
    bias: Tensor | None
    scale: float

    def rows(self, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
        """The map to the logits of `ids`: (N, D) with the scale, and (N,)."""
        chosen = torch.tensor(ids, device=self.weight.device)
        weight = self.weight[chosen].detach().double().cpu() * self.scale
        if self.bias is None:
            return weight, torch.zeros(len(ids), dtype=torch.float64)
        return weight, self.bias.detach().double().cpu()[torch.tensor(ids)]

    def logits(self, states: Tensor) -> Tensor:
        """(T, V) from (T, D)."""
        weight = self.weight.detach()
        found = ((states * self.scale).to(weight) @ weight.T).float().cpu()
        return found if self.bias is None else found + self.bias.detach().float().cpu()


@dataclass(frozen=True, slots=True, eq=False)
class ResidualPass:
    """The streams of one pass, by stack: "encoder", "decoder".

    logits: of the pass. to_logits: how they follow from the decoder's output; None where they are
        no linear map of it.
    """

    stacks: Mapping[str, ReadStack]
    logits: RowLogits
    to_logits: LogitMap | None
