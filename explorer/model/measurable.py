"""Protocols of models whose heads can be measured: our own and those of the library."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, Self

from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.hooks import Action
from explorer.model.intervention_hooks import Fills, MeanOutputs
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


class Point(NamedTuple):
    """A value that a pass computes.

    kind: "heads", the outputs (R, H, Q, width) of the heads of an attention before W_O, or
        "residual", the residual stream (R, Q, D) after a layer.
    site: of the attention; of a residual stream its stack, "encoder" or "decoder".
    """

    kind: str
    site: str
    layer: int


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

    def attentions(self, batch: EvaluationBatch) -> Iterator[LayerAttention]:
        """Attention of one pass, layer by layer in the order of `heads`."""

    def logits(
        self,
        batch: EvaluationBatch,
        gates: Tensor | None = None,
        fills: Fills | None = None,
        interventions: Interventions = NO_INTERVENTIONS,
        means: MeanOutputs | None = None,
    ) -> Tensor:
        """Logits (R, T, V) of one pass over R / N copies of the batch; R = N without gates.

        gates: (R, head), R a multiple of N; rows n, N + n, 2 N + n … are for sentence n. They
            scale the output of each head before W_O, and may require gradients.
        fills: the outputs at gate 0; None = zero.
        interventions: in addition to the gates; means: for these interventions.
        """

    def points(self, kind: str) -> tuple[Point, ...]:
        """All values of a kind, in the order in which a pass computes them. Raises `ConfigError`
        for a family of the library whose residual stream is not found."""

    def labelled_logits(
        self, batch: EvaluationBatch, actions: Mapping[Point, Action], copies: int = 1
    ) -> Tensor:
        """Logits (R, L) of the labelled row of each sentence, of one pass over R / N copies of a
        batch of `begun`. Only these rows are mapped to logits.

        actions: from a value to the one with which the pass goes on, which may be the same.
        """

    def choices(self, logits: Tensor) -> Tensor:
        """(R, T) ids that greedy decoding chooses after each row of logits (R, T, V)."""


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

    def output_weights(self) -> Mapping[str, list[Tensor]]:
        """By site, the weights W_O (H · K, D) of each layer; head h has K rows from h · K on.

        Raises `ConfigError` for a family of the library that has no such weights.
        """

    def in_languages(self, source: str | None = None, target: str | None = None) -> Self:
        """The same model for other source and target languages. Raises `ConfigError`."""

    def check_text(self, text: str, side: Literal["source", "target"]) -> None:
        """Raise `VocabularyError` on a text that cannot be read or is too long as a source or
        target, and `EvaluationBatchError` on a target for a decoder alone."""
