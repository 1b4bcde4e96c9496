"""The reader of one pass of a model of the library: what it calls, in order."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.model.huggingface.anatomy import Place
from explorer.model.huggingface.capture.attention_calls import Call
from explorer.model.huggingface.capture.module_hooks import Hook
from explorer.model.huggingface.streams.output_projections import LINEAR, projects
from explorer.model.huggingface.streams.stream_calls import (
    AttentionCall,
    HeadInputs,
    NormCall,
    StreamCall,
)
from explorer.model.huggingface.streams.turned_heads import Turn


class CallReader:
    """What is called in one pass, in order. None = the encoder has ended.

    embedded: the outputs of embeddings, (T, D).
    mapped: the last input of the output embeddings, (rows, D); None without any.
    """

    def __init__(self, *, attention: bool) -> None:
        self._attention = attention
        self.events: list[StreamCall | None] = []
        self.embedded: list[Tensor | None] = []
        self.mapped: Tensor | None = None
        self._waiting: AttentionCall | None = None
        self._linear: list[tuple[Any, Tensor]] = []  # since the last attention

    def attended(self, places: Sequence[Place], index: int, call: Call) -> None:
        queries, keys = (self._made(one) for one in (call.query, call.key))
        if not self._attention:
            call.weights = torch.empty(0)
        self._waiting = AttentionCall(places[index], call, queries, keys)
        self._linear.clear()
        self.events.append(self._waiting)

    def normed(self, module: Any, given: Any, output: Any) -> None:
        whole = isinstance(given, Tensor) and given.ndim <= 3  # not one head
        if whole and isinstance(output, Tensor):
            self.events.append(NormCall(module, _rows(given), _rows(output)))

    def projected(self, module: Any, given: Any, output: Any) -> None:
        if self._waiting and projects(given, self._waiting.call):
            self._waiting.projection, self._waiting.added = module, _rows(output)
            self._waiting = None
        self._linear.append((module, output))

    def looked_up(self, _: Any, given: Any, output: Tensor) -> None:
        self.embedded.append(_rows(output))

    def encoded(self, *_: Any) -> None:
        self.events.append(None)
        self.embedded.append(None)

    def _made(self, states: Tensor) -> HeadInputs | None:
        """The linear layer that made queries or keys (1, heads, T, width), if it alone did, or it
        and rotary positions."""
        _, heads, _, width = states.shape
        wanted = states[0].transpose(0, 1)  # (T, heads, width)
        for module, start, part in self._parts(heads, width):
            if torch.equal(part[-1], wanted[-1]) and torch.equal(part, wanted):
                return HeadInputs(module, start, width)
        exact = wanted.double().numpy()
        for module, start, part in self._parts(heads, width):
            if part.shape == wanted.shape and (turn := Turn.measured(part.double().numpy(), exact)):
                return HeadInputs(module, start, width, turn)
        return None

    def _parts(self, heads: int, width: int) -> Iterator[tuple[Any, int, Tensor]]:
        """What linear layers made, from any column on, as vectors (T, heads, width)."""
        for module, output in reversed(self._linear):
            found = output.reshape(-1, output.size(-1)).cpu()
            for start in range(0, found.size(1) - heads * width + 1, width):
                part = found[:, start : start + heads * width]
                yield module, start, part.unflatten(1, (heads, width))

    def to_logits(self, _: Any, given: Any, output: Any) -> None:
        self.mapped = _rows(given)


def reading_hooks(model: Any, reader: CallReader) -> Iterator[tuple[Any, Hook]]:
    """Each module that `reader` reads, with what it makes of a call."""
    for module in model.modules():
        if _is_norm(module):
            yield module, reader.normed
        elif isinstance(module, LINEAR):
            yield module, reader.projected
        elif isinstance(module, nn.Embedding):
            yield module, reader.looked_up
    if model.config.is_encoder_decoder:
        yield model.get_encoder(), reader.encoded
    if (head := model.get_output_embeddings()) is not None:
        yield head, reader.to_logits


def _is_norm(module: Any) -> bool:
    """Whether a module is a LayerNorm or an RMSNorm, of the library or of torch."""
    weight = getattr(module, "weight", None)
    return "Norm" in type(module).__name__ and isinstance(weight, Tensor) and weight.ndim == 1


def _rows(states: Tensor) -> Tensor:
    """(T, D) of a batch of one sequence, in float32."""
    return states.detach().reshape(-1, states.size(-1)).float().cpu()
