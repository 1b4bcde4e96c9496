"""Run a Transformer with actions on its points; see `points`."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.model.actions import MeanOutputs, intervention_actions
from explorer.model.config import ModelConfig
from explorer.model.hooks import STACKS, edit, path, residual_path
from explorer.model.masks import padding_mask
from explorer.model.points import (
    ATTENTION_KINDS,
    NO_ACTIONS,
    NO_READERS,
    Action,
    Actions,
    Point,
    Readers,
    chained,
    changes_encoder,
    seen,
)
from explorer.model.row_logits import RowLogits
from explorer.model.transformer import Transformer

_AROUND = ("input", "sublayer_input", "sublayer_output", "output")
"""Around an attention."""

_OTHERS = {
    "feed_forward_hidden": "{stack}.layers.{layer}.feed_forward.hidden",
    "feed_forward_output": "{stack}.layers.{layer}.around_feed_forward.sublayer_output",
    "residual": "{stack}.layers.{layer}.around_feed_forward.output",
    "token_vectors": "{stack}.embedding.scaled",
    "position_vectors": "{stack}.embedding.position_vectors",
    "embedding": "{stack}.embedding.output",
    "stack_output": "{stack}.output",
}
"""Kind of a point → path of its hook point. Only our own models have these and those around an
attention beside the `KINDS`."""


def run(
    model: Transformer,
    source: Tensor,
    target: Tensor,
    actions: Actions = NO_ACTIONS,
    readers: Readers = NO_READERS,
    copies: int = 1,
) -> RowLogits:
    """Logits of one pass over copies of `source` (N, S) and `target` (N, T), computed when read."""
    mask = padding_mask(source)
    each, targets = mask.repeat(copies, 1, 1, 1), target.repeat(copies, 1)
    with acting(model, actions, readers):
        if changes_encoder(actions):
            memory = model.encode(source.repeat(copies, 1), each)
        else:
            memory = model.encode(source, mask).repeat(copies, 1, 1)
        hidden = model.decoder_output(targets, memory, each)  # (R, T, D)
    return RowLogits.when_read(hidden, model.logits, model.config.target_vocabulary)


@contextmanager
def acting(
    model: Transformer, actions: Actions = NO_ACTIONS, readers: Readers = NO_READERS
) -> Iterator[None]:
    """A block in which `model` runs with actions, in full passes and step by step.

    The model itself does not change, and other threads that use it do not see the actions.
    """
    read = {point: seen(reader) for point, reader in readers.items()}
    both = chained(actions, read)
    with edit(model, {hook_path(point): action for point, action in both.items()}):
        yield


def hook_path(point: Point) -> str:
    """The path of the hook point of a value."""
    kind, site, layer = point
    if kind in ATTENTION_KINDS:
        return path(site, layer, "head_output" if kind == "heads" else kind)
    if kind in _AROUND:
        return residual_path(site, layer, kind)
    return _OTHERS[kind].format(stack=STACKS[site][0], layer=layer)


def transformer_actions(
    interventions: Interventions, config: ModelConfig, means: MeanOutputs | None = None
) -> Actions:
    """The actions that carry out `interventions`, omissions first; raises as
    `intervention_actions`."""
    changed = intervention_actions(interventions, config.all_heads, means)
    omitted = [_omission(part, config) for part in interventions.omitted]
    return chained(*omitted, changed)


def _omission(part: str, config: ModelConfig) -> Actions:
    """The actions that leave out a part of the whole model."""
    if part == "positions":
        stacks = dict.fromkeys(STACKS[site][0] for site, _ in config.attentions)
        return {Point("position_vectors", stack): torch.zeros_like for stack in stacks}
    root = math.sqrt(config.head_width)
    parts: dict[str, tuple[str, Action]] = {
        "scaling": ("scores", lambda scores: scores * root),
        "mask": ("mask", torch.ones_like),
    }
    kind, action = parts[part]
    return {Point(kind, *place): action for place in config.attentions}
