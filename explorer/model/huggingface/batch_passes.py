"""Teacher-forced passes of a model of the library over batches of sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from explorer.core.errors import EvaluationBatchError, VocabularyError
from explorer.core.interventions import refuse_weights_only
from explorer.core.sites import Head
from explorer.core.vocabulary import shorten
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.batch_texts import BatchTexts
from explorer.model.huggingface.capture.edits import edits_of, seen_by
from explorer.model.huggingface.capture.module_hooks import hooked
from explorer.model.huggingface.capture.passes import encoded, full_pass
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.fed_text import without_head
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.streams.layer_outputs import acting_on_layers, layer_paths
from explorer.model.measurable import BatchPasses
from explorer.model.points import (
    ATTENTION_KINDS,
    NO_ACTIONS,
    NO_READERS,
    STACK_KINDS,
    Actions,
    Point,
    Reader,
    Readers,
    chained,
    changes_encoder,
    seen,
)
from explorer.model.row_logits import RowLogits

_VECTORS = Point("token_vectors", "decoder")


@dataclass(frozen=True)
class LibraryPasses(BatchTexts, BatchPasses):
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

    def run(
        self,
        batch: EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
        *,
        predicts: bool = True,
    ) -> RowLogits:
        return self.run_on(inputs_of(batch), actions, readers, copies, predicts=predicts)

    def run_on(
        self,
        inputs: Inputs,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
        *,
        predicts: bool = True,
    ) -> RowLogits:
        """`run` on the ids that go into the model."""
        anatomy, edits = self.anatomy, edits_of(self.anatomy, actions)
        readers = {point: _of_copy(reader) for point, reader in readers.items()}
        calls = seen_by(anatomy, readers)
        if actions:
            family = str(self.model.config.model_type)
            refuse_weights_only({"weights_only": anatomy.weights_only, "family": family})
        if changes_encoder(actions):
            inputs, copies = inputs.repeated(copies), 1  # otherwise the encoder runs on one copy
        both = chained(actions, {point: seen(reader) for point, reader in readers.items()})
        layers = self._layers if any(point.kind == "residual" for point in both) else {}
        memory, modules = None, []
        body = self.model if predicts else without_head(self.model, self.kind)
        with acting_on_layers(self.model, layers, both):
            if act := both.get(_VECTORS):
                # First, because the encoder may embed by the same module.
                memory = encoded(self.model, anatomy, inputs, edits, calls)
                modules = [(self._embeddings, lambda _, given, output: act(output))]
            with hooked(modules):
                return full_pass(
                    body,
                    anatomy,
                    inputs,
                    edits,
                    copies=copies,
                    seen=calls,
                    memory=memory,
                    head=anatomy.head,
                ).logits

    @property
    def _embeddings(self) -> Any:
        """The module that turns the ids of the decoder into vectors."""
        decoder = self.model.get_decoder() if self.model.config.is_encoder_decoder else self.model
        return decoder.get_input_embeddings()

    @cached_property
    def _embedded(self) -> tuple[str, ...]:
        """Kinds of points of the embedding: only a decoder's is known."""
        return () if self.kind == Kind.ENCODER_ONLY else (_VECTORS.kind,)

    @cached_property
    def changed_kinds(self) -> tuple[str, ...]:
        known = ("mask", "pattern", "heads", "residual")
        return () if self.anatomy.weights_only else (*known, *self._embedded)

    @cached_property
    def read_kinds(self) -> tuple[str, ...]:
        if self.anatomy.weights_only:
            return ("mask", "pattern")
        return (*ATTENTION_KINDS, "residual", *self._embedded)

    def points(self, kind: str) -> tuple[Point, ...]:
        if self.anatomy.weights_only and kind not in self.read_kinds:
            return ()
        if kind in ATTENTION_KINDS:
            return tuple(Point(kind, one.site, one.layer) for one in self.anatomy.places)
        if kind in STACK_KINDS:
            return tuple(Point(kind, "decoder") for _ in self._embedded if kind == _VECTORS.kind)
        return tuple(
            Point(kind, stack, layer)
            for stack, paths in self._layers.items()
            for layer in range(len(paths))
        )

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


def _of_copy(reader: Reader) -> Reader:
    """A reader that gets a copy: some families add to a value in place after it is read."""
    return lambda value: reader(value.clone())


def inputs_of(batch: EvaluationBatch) -> Inputs:
    sides = (*_ids_and_mask(batch.source), *_ids_and_mask(batch.queries))
    return Inputs(*sides, batch.segments)


def _ids_and_mask(rows: TokenRows | None) -> tuple[Tensor | None, Tensor | None]:
    return (None, None) if rows is None else (rows.ids, rows.real.long())
