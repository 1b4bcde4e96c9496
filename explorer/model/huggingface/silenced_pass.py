"""A pass of a model of the library whose sublayers are silenced: each adds 0 to the stream.

So every attention reads embeddings alone, as if it were the only one; queries and keys are made as
the family makes them, with rotary positions and norms of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture import Call
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.passes import full_pass
from explorer.model.huggingface.read_streams import ReadStack

_running: ContextVar[object] = ContextVar("running", default=None)


@torch.inference_mode()
def silenced_calls(
    model: Any, anatomy: Anatomy, stacks: Mapping[str, ReadStack], inputs: Inputs
) -> list[tuple[Place, Call]]:
    """The calls of self-attention in a pass over `inputs`, with all sublayers silenced.

    stacks: of the model, as `residual_pass` reads them.
    """
    found: list[tuple[Place, Call]] = []

    def attended(places: Sequence[Place], index: int, call: Call) -> None:
        if places[index].site != "cross":
            found.append((places[index], call))

    seen = {
        "encoder": partial(attended, anatomy.encoder),
        "decoder": partial(attended, anatomy.decoder),
    }
    with _silenced(stacks):
        full_pass(model, anatomy, inputs, seen=seen, head=anatomy.head)
    return found


class _Stream:
    """What every sublayer of one stack reads, while one pass runs."""

    states: Tensor | None = None

    def first(self, _: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Of a norm before a sublayer: it reads what the first one read."""
        if self.states is None:
            self.states = given[0]
        return self.latest(_, given)

    def latest(self, _: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self.states is not None
        return (self.states.reshape(given[0].shape), *given[1:])  # some join rows and positions

    def keep(self, _: Any, given: tuple[Any, ...], output: Tensor) -> None:
        self.states = output


def _zeros(_: Any, given: tuple[Any, ...], output: Tensor) -> Tensor:
    return torch.zeros_like(output)


@contextmanager
def _silenced(stacks: Mapping[str, ReadStack]) -> Iterator[None]:
    """In this thread alone: others share the model.

    A norm before a sublayer reads the embedding again. Behind a residual connection, attention
    adds 0, and the norm of the feed-forward network reads what the network read.
    """
    mine = object()

    def own(act: Any) -> Any:
        return lambda *given: act(*given) if _running.get() is mine else None

    token, hooks = _running.set(mine), []
    for stack in stacks.values():
        stream = _Stream()
        for one in stack.sublayers:
            norm = one.norm.module
            if one.pre:
                hooks.append(norm.register_forward_pre_hook(own(stream.first)))
            elif one.attention is not None:
                hooks.append(one.attention.projection.register_forward_hook(own(_zeros)))
                hooks.append(norm.register_forward_hook(own(stream.keep)))
            else:
                hooks.append(norm.register_forward_pre_hook(own(stream.latest)))
    try:
        yield
    finally:
        _running.reset(token)
        for hook in hooks:
            hook.remove()
