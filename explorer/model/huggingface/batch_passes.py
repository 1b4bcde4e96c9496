"""Teacher-forced passes of a model of the library over batches of sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import torch
from torch import Tensor

from explorer.core.errors import EvaluationBatchError, VocabularyError
from explorer.core.interventions import Interventions, refuse_weights_only
from explorer.core.sites import Head, sides
from explorer.core.vocabulary import shorten
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
from explorer.model.hooks import Action
from explorer.model.huggingface.anatomy import Kind, Place
from explorer.model.huggingface.batch_texts import BatchTexts
from explorer.model.huggingface.capture.attention_calls import Call, Edit
from explorer.model.huggingface.capture.edits import Cursor, Edits, edits_for
from explorer.model.huggingface.capture.masks import unmasked_cells
from explorer.model.huggingface.capture.passes import full_pass
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.fed_text import without_head
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.streams.layer_outputs import acting, layer_paths
from explorer.model.intervention_hooks import Fills, MeanOutputs
from explorer.model.measurable import NO_INTERVENTIONS, LayerAttention, Point


@dataclass(frozen=True)
class LibraryPasses(BatchTexts):
    """See `measurable.BatchPasses`."""

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        return self.anatomy.all_heads

    @cached_property
    def parameters(self) -> int:
        return int(self.model.num_parameters())

    @cached_property
    def logits_size(self) -> int:
        if self.classes.count:
            return self.classes.count
        return self.tokens.size if self.predicts_tokens else 0

    def logit(self, named: str | int) -> int:
        """See `measurable.BatchPasses`."""
        if self.classes.count:
            return self.classes.number(named)
        if not isinstance(named, str):
            raise EvaluationBatchError("no_token", got=type(named).__name__)
        ids = self.tokens.target(named)
        if len(ids) != 1:
            raise VocabularyError("several_tokens", text=shorten(named), count=len(ids))
        return ids[0]

    def labels(self, ids: Sequence[int], side: Literal["source", "target"]) -> tuple[str, ...]:
        return self.tokens.labels(ids)

    @torch.inference_mode()
    def attentions(self, batch: EvaluationBatch) -> Iterator[LayerAttention]:
        head = self.anatomy.head  # no logits are read
        body = without_head(self.model, self.kind)
        found = full_pass(body, self.anatomy, inputs_of(batch), record=True, head=head)
        calls = [
            *zip(self.anatomy.encoder, found.encoder, strict=True),
            *zip(self.anatomy.decoder, found.decoder, strict=True),
        ]
        for site in dict.fromkeys(head.site for head in self.heads):
            queries, keys = sides(batch.source, batch.queries)[site]
            assert queries is not None
            assert keys is not None
            real = queries.real[:, :, None] & keys.real[:, None]  # (N, Q, K)
            for place, call in calls:
                if place.site == site:
                    yield _layer(place, call, real)

    def logits(
        self,
        batch: EvaluationBatch,
        gates: Tensor | None = None,
        fills: Fills | None = None,
        interventions: Interventions = NO_INTERVENTIONS,
        means: MeanOutputs | None = None,
    ) -> Tensor:
        if interventions or gates is not None:
            family = str(self.model.config.model_type)
            refuse_weights_only({"weights_only": self.anatomy.weights_only, "family": family})
        edits = edits_for(interventions, self.anatomy, means, gates, fills)
        copies = 1 if gates is None else len(gates) // len(batch)
        done = full_pass(self.model, self.anatomy, inputs_of(batch), edits, copies=copies)
        return done.logits.whole().float()

    def points(self, kind: str) -> tuple[Point, ...]:
        if kind == "heads":
            return tuple(Point(kind, one.site, one.layer) for one in self.anatomy.places)
        return tuple(
            Point(kind, stack, layer)
            for stack, paths in self._layers.items()
            for layer in range(len(paths))
        )

    def labelled_logits(
        self, batch: EvaluationBatch, actions: Mapping[Point, Action], copies: int = 1
    ) -> Tensor:
        inputs, anatomy = inputs_of(batch), self.anatomy
        if any(point.site == "encoder" for point in actions):
            inputs, copies = inputs.repeated(copies), 1  # otherwise the encoder runs on one copy
        edits = Edits(
            _output_edits(anatomy.encoder, actions),
            _output_edits(anatomy.decoder, actions),
            Cursor(),
        )
        of_layers = {point: act for point, act in actions.items() if point.kind == "residual"}
        with acting(self.model, self._layers if of_layers else {}, of_layers):
            done = full_pass(self.model, anatomy, inputs, edits, copies=copies, head=anatomy.head)
        rows = batch.labels.real.int().argmax(1)
        first, end = int(rows.min()), int(rows.max()) + 1
        logits = done.logits.read(first, end).float()  # (R, some rows, L)
        return logits[torch.arange(len(logits)), (rows - first).repeat(len(logits) // len(rows))]

    @cached_property
    def _layers(self) -> Mapping[str, Sequence[str]]:
        """By stack, the path of the module of each layer. Raises `ConfigError`."""
        inputs = probe(self.model, self.kind, self.tokens.size, self.positions)
        return layer_paths(self.model, self.anatomy, inputs)

    def choices(self, logits: Tensor) -> Tensor:
        if self.classes.count:
            return logits.argmax(-1)
        rules = self.settings.rules(self.kind, 1, 1, {})
        if self.kind != Kind.ENCODER_DECODER:
            return rules.chosen(logits, 0)
        first, others = (rules.chosen(logits[:, rows], step) for rows, step in _FIRST_AND_OTHERS)
        return torch.cat([first, others], 1)


_FIRST_AND_OTHERS = ((slice(0, 1), 1), (slice(1, None), 2))
"""Rows, and a decoding step whose rules hold for them: only the first step has its own rules."""


def _output_edits(places: Sequence[Place], actions: Mapping[Point, Action]) -> dict[int, Edit]:
    """The edits of the outputs of heads, by the index of the call."""
    edits = {}
    for index, place in enumerate(places):
        if act := actions.get(Point("heads", place.site, place.layer)):
            edits[index] = Edit(output=partial(_by_head, act))
    return edits


def _by_head(act: Action, output: Tensor) -> Tensor:
    """`act` on the outputs (R, Q, H, width) of a call, which it gets as (R, H, Q, width)."""
    return act(output.transpose(1, 2)).transpose(1, 2)


def inputs_of(batch: EvaluationBatch) -> Inputs:
    sides = (*_ids_and_mask(batch.source), *_ids_and_mask(batch.queries))
    return Inputs(*sides, batch.segments)


def _ids_and_mask(rows: TokenRows | None) -> tuple[Tensor | None, Tensor | None]:
    return (None, None) if rows is None else (rows.ids, rows.real.long())


def _layer(place: Place, call: Call, real: Tensor) -> LayerAttention:
    """One call as the attention of a layer.

    real: (N, Q, K), True where neither query nor key is padding.
    """
    unmasked = unmasked_cells(call.mask, real.size(1), real.size(2)).any(1) & real
    output = call.output.transpose(1, 2)  # (N, H, Q, width)
    return LayerAttention(place.site, place.layer, call.weights, unmasked, output)
