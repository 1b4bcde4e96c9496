"""The residual stream of a stack as sums, found among what a pass calls.

A norm is before a sublayer (pre-norm) or behind its residual connection (post-norm); a family that
does neither is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from explorer.core.errors import ConfigError
from explorer.model.huggingface.streams.read_streams import LogitMap, ReadStack, ReadSublayer
from explorer.model.huggingface.streams.stream_calls import AttentionCall, NormCall, StreamCall
from explorer.model.row_logits import RowLogits

_LARGEST_ERROR = 1e-4
"""Of a sum, relative to its largest number, in float32."""

_LARGEST_HALF_ERROR = 2e-2


@dataclass(frozen=True, slots=True)
class StreamSums:
    """Finds the sums of a stack among its calls, to the rounding of `dtype`."""

    family: str
    dtype: torch.dtype

    def stack(self, events: Sequence[StreamCall], tables: Sequence[Tensor]) -> ReadStack:
        """The stream of one stack. Raises `ConfigError` if its calls are no such sums.

        tables: what its embeddings returned.
        """
        calls = [place for place, event in enumerate(events) if isinstance(event, AttentionCall)]
        sublayers: list[ReadSublayer] = []
        behind: list[NormCall] = []
        for place, end in zip(calls, [*calls[1:], len(events)], strict=True):
            attention, behind = self._attended(events, place, end)
            sublayers.append(attention)
            following = events[end] if end < len(events) else None
            if not isinstance(following, AttentionCall) or following.place.layer > attention.layer:
                sublayers.append(self._fed(attention, behind))
        for one, other in pairwise(sublayers):
            if one.pre != other.pre or not self._equal(other.inputs, one.after):
                raise self._refusal()
        last = behind[1] if sublayers[-1].pre else None
        embedding, first = sublayers[0].inputs, events[0]
        normed = isinstance(first, NormCall) and self._equal(first.output, embedding)
        norm = first if isinstance(first, NormCall) and normed else None
        embedded = self._embedded(embedding if norm is None else norm.inputs, tables)
        return ReadStack(tuple(sublayers), last, embedded, norm)

    def _embedded(self, embedding: Tensor, tables: Sequence[Tensor]) -> dict[str, Tensor]:
        """`embedding` as the tokens' embeddings, times a factor, and all others together."""
        own = [table for table in tables if table.shape[-1] == embedding.shape[-1]]
        if not own or own[0].shape != embedding.shape:
            return {}
        others = torch.zeros_like(embedding)
        for table in own[1:]:
            if len(table) in (1, len(embedding)):
                others = others + table
        tokens, rest = own[0], embedding - others
        factor = float((rest * tokens).sum() / (tokens * tokens).sum())
        if not self._equal(tokens * factor, rest):
            return {}
        parts = {"token": rest}
        return parts | {"position": others} if len(own) > 1 else parts

    def _attended(
        self, events: Sequence[StreamCall], place: int, end: int
    ) -> tuple[ReadSublayer, list[NormCall]]:
        """The attention at `place`, and the norms behind it."""
        own = events[place]
        assert isinstance(own, AttentionCall)
        before = events[place - 1] if place else None
        if not (isinstance(before, NormCall) and before.inputs.shape == own.added.shape):
            before = None  # such as one of narrower embeddings
        behind = [event for event in events[place + 1 : end] if isinstance(event, NormCall)]
        if own.projection is None or not behind:
            raise self._refusal()
        stream, site, layer = behind[0].inputs, own.place.site, own.place.layer
        if before and self._equal(stream, before.inputs + own.added):
            return ReadSublayer(site, layer, before.inputs, own.added, before, own, True), behind
        if stream.shape != own.added.shape:
            raise self._refusal()
        inputs = before.output if before else stream - own.added
        if not self._equal(stream, inputs + own.added):
            raise self._refusal()
        return ReadSublayer(site, layer, inputs, own.added, behind[0], own, False), behind

    def _fed(self, attention: ReadSublayer, norms: Sequence[NormCall]) -> ReadSublayer:
        """The feed-forward network behind the last attention of a layer."""
        if len(norms) < 2:
            raise self._refusal()
        if norms[0].inputs.shape != norms[1].inputs.shape:
            raise self._refusal()
        pre = attention.pre
        inputs = norms[0].inputs if pre else norms[0].output
        own, added = norms[0 if pre else 1], norms[1].inputs - inputs
        return ReadSublayer("feed_forward", attention.layer, inputs, added, own, None, pre)

    def logit_map(
        self, model: Any, output: Tensor, mapped: Tensor, logits: RowLogits
    ) -> LogitMap | None:
        """The map from the decoder's output to logits, if it is linear."""
        end = output[len(output) - len(mapped) :]
        head = model.get_output_embeddings()
        if mapped.shape != end.shape or not isinstance(head, nn.Linear):
            return None
        scale = float((mapped * end).sum() / (end * end).sum())
        biases = [getattr(head, "bias", None), getattr(model, "final_logits_bias", None)]
        given = [one.flatten() for one in biases if isinstance(one, Tensor)]
        found = LogitMap(head.weight, sum(given[1:], given[0]) if given else None, scale)
        expected = logits.read(logits.rows - 1, logits.rows)[0].float()
        same = self._equal(mapped, end * scale) and expected.size(-1) == len(head.weight)
        return found if same and self._equal(found.logits(output[-1:]), expected) else None

    def _equal(self, one: Tensor, other: Tensor) -> bool:
        limit = _LARGEST_ERROR if self.dtype == torch.float32 else _LARGEST_HALF_ERROR
        most = limit * max(1.0, float(other.abs().max()))
        return one.shape == other.shape and float((one - other).abs().max()) <= most

    def _refusal(self) -> ConfigError:
        return ConfigError("no_stream", family=self.family)
