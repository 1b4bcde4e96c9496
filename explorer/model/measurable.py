"""Protocols of models whose heads can be measured: our own and those of the library."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import Head, sides
from explorer.core.trace import Trace
from explorer.model.actions import Fills, MeanOutputs, gate_actions, intervention_actions
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.points import NO_ACTIONS, NO_READERS, Actions, Point, Readers, chained, kept
from explorer.model.row_logits import RowLogits
from explorer.model.trace_options import TracedModel

NO_INTERVENTIONS = Interventions()


@dataclass(frozen=True, slots=True, eq=False)
class LayerAttention:
    """Attention of one layer at one site, for a batch.

    weights: (N, H, Q, K), after softmax and before dropout.
    unmasked: (N, Q, K), True = may attend; rows of padding are all False.
    output: (N, H, Q, width) of each head, before the output projection.
    """

    site: str
    layer: int
    weights: Tensor
    unmasked: Tensor
    output: Tensor


class BatchPasses(Protocol):
    """Teacher-forced passes of one model over batches of sentences."""

    @property
    def heads(self) -> tuple[Head, ...]:
        """Every head, in the order of all tables of heads and of all gates."""

    @property
    def parameters(self) -> int: ...

    @property
    def logits_size(self) -> int:
        """Number of logits of a row: of the vocabulary or the classes; 0 without either."""

    @property
    def predicts_tokens(self) -> bool:
        """Whether the model predicts tokens, so texts without labels are enough to measure it."""

    def pairs(self, pairs: Sequence[tuple[str, str]], name: str) -> EvaluationBatch:
        """Sources with given targets; for a model that decodes nothing, each pair as one text.

        Raises `VocabularyError` on a text that cannot be read or is too long, and
        `EvaluationBatchError` or `ConfigError` for a model that does not read pairs.
        """

    def texts(self, texts: Sequence[str], name: str, seed: int = 0) -> EvaluationBatch:
        """Texts with the expected predictions: the model's greedy output, the next tokens of the
        text, or its tokens masked at random from `seed`. Raises `VocabularyError`."""

    def labelled(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], labels: Sequence[Any], name: str
    ) -> EvaluationBatch:
        """Texts, or pairs of texts, with labels: for a classifier the class by name or number, for
        a tagger the tags of the words. Raises `EvaluationBatchError` on other labels and for other
        models, and the errors of `texts`."""

    def continued(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], name: str
    ) -> EvaluationBatch:
        """Unchanged texts; exactly one row of each is real among the labels. Its logits predict the
        next token, the token at the mask, or the class.

        Raises `EvaluationBatchError` for a model that translates or has no such logits. A model
        that fills in masks needs exactly one mask in each text, and raises it otherwise.
        """

    def begun(
        self, texts: Sequence[str], prefixes: Sequence[str | None], name: str
    ) -> EvaluationBatch:
        """As `continued`, also for a model that translates, with the beginning of the output of
        each text; None = nothing yet.

        Raises `ConfigError` on a beginning for a model that decodes nothing, `VocabularyError` on
        one that is too long.
        """

    def repeated(self, size: int, seed: int) -> EvaluationBatch:
        """`size` sequences of random tokens for a decoder alone, each a block of at most
        `REPEATED_BLOCK` tokens, twice. Raises `EvaluationBatchError` for other models."""

    def logit(self, named: str | int) -> int:
        """Index among the logits of `continued`: of a text that is one token or, for a classifier,
        of a class by name or number. Raises `VocabularyError` on any other text, and
        `EvaluationBatchError` on an unknown class."""

    def labels(self, ids: Sequence[int], side: Literal["source", "target"]) -> tuple[str, ...]:
        """The labels of consecutive ids; a model with one stack has one vocabulary."""

    @property
    def changed_kinds(self) -> tuple[str, ...]:
        """The kinds of points at which an action may change the value."""

    @property
    def read_kinds(self) -> tuple[str, ...]:
        """The kinds of points at which the value may be read."""

    def points(self, kind: str) -> tuple[Point, ...]:
        """All values of one of `KINDS`, in the order in which a pass computes them. Raises
        `ConfigError` for a family of the library whose residual stream is not found."""

    def run(
        self,
        batch: EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
        *,
        predicts: bool = True,
    ) -> RowLogits:
        """Logits of one pass over `copies` of a batch; rows n, N + n, 2 N + n … are of sentence n.

        actions: from a value to the one with which the pass goes on; may require gradients. Without
            one on the encoder it runs on one copy. readers: see the values after the actions.
        predicts: False for a pass whose logits are not read.
        """

    def changed_by(self, interventions: Interventions, means: MeanOutputs | None) -> Actions:
        """The actions that carry out `interventions`; raises as `intervention_actions`."""
        return intervention_actions(interventions, self.heads, means)

    def logits(
        self,
        batch: EvaluationBatch,
        gates: Tensor | None = None,
        fills: Fills | None = None,
        interventions: Interventions = NO_INTERVENTIONS,
        means: MeanOutputs | None = None,
    ) -> Tensor:
        """Logits (R, T, V) with `gate_actions` of `gates` (R, head), R a multiple of N, in addition
        to `interventions`. R = N without gates."""
        changed = self.changed_by(interventions, means)
        copies = 1 if gates is None else len(gates) // len(batch)
        actions = chained(changed, gate_actions(self.heads, gates, fills))
        return _single(self.run(batch, actions, copies=copies).whole())

    def labelled_logits(
        self,
        batch: EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
    ) -> Tensor:
        """Logits (R, L) of the labelled row of each sentence of a batch of `begun`. Only these rows
        are mapped to logits."""
        rows = batch.labels.real.int().argmax(1).repeat(copies)
        return _single(self.run(batch, actions, readers, copies).picked(rows))

    @torch.inference_mode()
    def attentions(self, batch: EvaluationBatch) -> Iterator[LayerAttention]:
        """Attention of one pass, layer by layer in the order of `heads`."""
        places = list(dict.fromkeys(head[:2] for head in self.heads))
        kinds = ("pattern", "mask", "heads")
        readers, values = kept(Point(kind, *place) for place in places for kind in kinds)
        self.run(batch, readers=readers, predicts=False)
        for site, layer in places:
            weights, mask, outputs = (values.pop(Point(kind, site, layer)).cpu() for kind in kinds)
            real = [side.real for side in sides(batch.source, batch.queries)[site] if side]
            unmasked = mask.any(1) & real[0][:, :, None] & real[1][:, None]  # (N, Q, K)
            yield LayerAttention(site, layer, weights, unmasked, outputs)

    def choices(self, logits: Tensor) -> Tensor:
        """(R, T) ids that greedy decoding chooses after each row of logits (R, T, V)."""


def _single(logits: Tensor) -> Tensor:
    """Logits of half precision in single precision."""
    return logits.float() if logits.dtype.itemsize < 4 else logits


class MeasurableModel(TracedModel, Protocol):
    """A model that can be traced, and whose heads can be measured."""

    @property
    def name(self) -> str: ...

    @property
    def facts(self) -> Mapping[str, Any]: ...

    @property
    def digest(self) -> str:
        """A fingerprint of the sizes and weights."""

    @property
    def notes(self) -> Sequence[object]:
        """Notes for a reader of the model."""

    @property
    def passes(self) -> BatchPasses: ...

    def rerun(
        self,
        of: Trace | EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
    ) -> RowLogits:
        """One pass over the tokens of a trace of this model, as if it had no interventions, or of a
        batch; see `BatchPasses.run`."""

    def output_weights(self) -> Mapping[str, list[Tensor]]:
        """By site, the weights W_O (H · K, D) of each layer; head h has K rows from h · K on.

        Raises `ConfigError` for a family of the library that has no such weights.
        """

    def in_languages(self, source: str | None = None, target: str | None = None) -> Self:
        """The same model for other source and target languages. Raises `ConfigError`."""

    def check_text(self, text: str, side: Literal["source", "target"]) -> None:
        """Raise `VocabularyError` on a text that cannot be read or is too long as a source or
        target, and `EvaluationBatchError` on a target for a decoder alone."""
