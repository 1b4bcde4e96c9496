"""Patching one value at a time, in runs of one text, by hooks of the test's own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from explorer.core.sites import Head
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.hooks import edit, path
from tests.support.projected_heads import projected

Change: TypeAlias = Callable[[str, int, Tensor], Tensor]
"""(site or stack, layer, value) → value: outputs of heads (H, Q, width), or states (Q, D)."""

LAYERS = {
    "gpt2": {"decoder": "transformer.h.{}"},
    "bart": {"encoder": "model.encoder.layers.{}", "decoder": "model.decoder.layers.{}"},
    "bert": {"encoder": "bert.encoder.layer.{}"},
}
"""Families of the library → by stack, the path of a layer."""


def unchanged(site: str, layer: int, value: Tensor) -> Tensor:
    return value


@dataclass
class OwnRuns:
    """Clean and corrupted runs of a model trained here."""

    model: Any
    batches: list[EvaluationBatch]

    @torch.no_grad()
    def logits(self, number: int, heads: Change = unchanged, layers: Change = unchanged) -> Tensor:
        transformer, batch = self.model.transformer, self.batches[number]
        config = transformer.config
        actions = {
            path(site, layer, "head_output"): partial(_alone, partial(heads, site, layer))
            for site, layer in config.attentions
        }
        for stack, count in self.stacks.items():
            for layer in range(count):
                name = f"{stack}.layers.{layer}.around_feed_forward.output"
                actions[name] = partial(_alone, partial(layers, stack, layer))
        source = torch.empty(1, 0).long() if batch.source is None else batch.source.ids
        with edit(transformer, actions):
            return transformer(source, batch.queries.ids)[0, -1]

    @property
    def stacks(self) -> dict[str, int]:
        config = self.model.transformer.config
        counts = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
        return {stack: count for stack, count in counts.items() if count}


@dataclass
class LibraryRuns:
    """The same of a model of the library."""

    model: Any
    family: str
    batches: list[EvaluationBatch]

    @torch.no_grad()
    def logits(self, number: int, heads: Change = unchanged, layers: Change = unchanged) -> Tensor:
        library, batch = self.model.model, self.batches[number]
        source = None if batch.source is None else batch.source.ids
        queries = None if batch.queries is None else batch.queries.ids
        given = {"input_ids": queries if source is None else source}
        if source is not None and queries is not None:
            given["decoder_input_ids"] = queries
        by_head = partial(_by_head, heads)
        changed = projected(library, self.family, self.model.anatomy, by_head)
        with changed, _layers_changed(library, LAYERS[self.family], self.stacks, layers):
            row = int(batch.labels.real[0].int().argmax())
            return library(**given).logits[0, row]

    @property
    def stacks(self) -> dict[str, int]:
        return {site: self.model.anatomy.layers(site) for site in LAYERS[self.family]}


def _alone(change: Callable[[Tensor], Tensor], value: Tensor) -> Tensor:
    return change(value[0])[None]


def _by_head(heads: Change, site: str, layer: int, states: Tensor) -> Tensor:
    return heads(site, layer, states[0].transpose(0, 1)).transpose(0, 1)[None]


@contextmanager
def _layers_changed(
    library: Any, paths: dict[str, str], stacks: dict[str, int], change: Change
) -> Iterator[None]:
    def after(stack: str, layer: int, _: Any, args: Any, output: Any) -> Any:
        states = output[0] if isinstance(output, tuple) else output
        changed = change(stack, layer, states[0])[None]
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    hooks = [
        library.get_submodule(paths[stack].format(layer)).register_forward_hook(
            partial(after, stack, layer)
        )
        for stack, count in stacks.items()
        for layer in range(count)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


Runs: TypeAlias = OwnRuns | LibraryRuns


def values_of(runs: Runs, number: int) -> tuple[dict[Any, Tensor], dict[Any, Tensor]]:
    """Outputs of heads and residual streams of a run, by (site or stack, layer)."""
    heads: dict[Any, Tensor] = {}
    layers: dict[Any, Tensor] = {}

    def note(values: dict[Any, Tensor], site: str, layer: int, value: Tensor) -> Tensor:
        values[site, layer] = value.clone()
        return value

    runs.logits(number, partial(note, heads), partial(note, layers))
    return heads, layers


def with_head(runs: Runs, head: Head, positions: Any = slice(None)) -> Tensor:
    """Logits of the corrupted run with one head's clean output."""
    clean, _ = values_of(runs, 0)

    def patched(site: str, layer: int, value: Tensor) -> Tensor:
        if (site, layer) != head[:2]:
            return value
        changed = value.clone()
        changed[head.head, positions] = clean[site, layer][head.head, positions]
        return changed

    return runs.logits(1, heads=patched)


def with_state(runs: Runs, stack: str, layer: int, position: int) -> Tensor:
    """Logits of the corrupted run with the clean residual stream after a layer at a position."""
    _, clean = values_of(runs, 0)

    def patched(own: str, number: int, value: Tensor) -> Tensor:
        if (own, number) != (stack, layer):
            return value
        changed = value.clone()
        changed[position] = clean[stack, layer][position]
        return changed

    return runs.logits(1, layers=patched)


def with_path(runs: Runs, sender: Head, receiver: Head, positions: Any = slice(None)) -> Tensor:
    """Logits of the corrupted run in which the receiver alone reads the sender's clean output."""
    (clean, _), (corrupted, _) = values_of(runs, 0), values_of(runs, 1)
    received: dict[Head, Tensor] = {}

    def sent(site: str, layer: int, value: Tensor) -> Tensor:
        """Every head as it was, but for the sender and what the receiver makes of it."""
        changed = corrupted[site, layer].clone()
        if (site, layer) == sender[:2]:
            changed[sender.head, positions] = clean[site, layer][sender.head, positions]
        if (site, layer) == receiver[:2]:
            changed[receiver.head] = received[receiver] = value[receiver.head].clone()
        return changed

    def taken(site: str, layer: int, value: Tensor) -> Tensor:
        if (site, layer) != receiver[:2]:
            return value
        changed = value.clone()
        changed[receiver.head] = received[receiver]
        return changed

    runs.logits(1, heads=sent)
    return runs.logits(1, heads=taken)
