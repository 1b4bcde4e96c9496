"""What the measurements of heads need of a model, whoever has built it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.trace_size import Layers
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.head_gates import Fills, Means

NO_INTERVENTIONS = Interventions()


@dataclass(frozen=True, slots=True, eq=False)
class LayerAttention:
    """What one layer computed at one site, for a batch.

    weights: (N, H, Q, K), after softmax and before dropout.
    unmasked: (N, Q, K), True = may attend; rows of padding have no key.
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
        """Number of logits of a row; 0 when the model predicts no tokens."""

    @property
    def predicts_tokens(self) -> bool:
        """Whether texts without labels give it something to predict."""

    def pairs(self, pairs: Sequence[tuple[str, str]], name: str) -> EvaluationBatch:
        """Sources with given targets; of a model that decodes nothing two texts that it reads as
        one. Raises `VocabularyError` on a text that cannot be read or is too long,
        `EvaluationBatchError` or `ConfigError` in a model that does not read pairs."""

    def texts(self, texts: Sequence[str], name: str, seed: int = 0) -> EvaluationBatch:
        """Texts alone: with the model's greedy output as targets, with their own next tokens, or
        with tokens that are masked by chance from `seed`. Raises `VocabularyError`."""

    def labelled(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], labels: Sequence[Any], name: str
    ) -> EvaluationBatch:
        """Texts, or pairs of two, of a classifier, each with its class by name or number; of a
        tagger each with the tags of its words. Raises `EvaluationBatchError` on other labels and
        in other models, otherwise as `texts`."""

    def continued(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], name: str
    ) -> EvaluationBatch:
        """Texts as they stand; of each one row is real among the labels, whose logits say what
        follows it, what is at its mask, or which class it has. Raises `EvaluationBatchError` in a
        model that translates or has no such logits, and on a text without one mask."""

    def logit(self, named: str | int) -> int:
        """The place among the logits of `continued` of a text that is one token, or of a classifier
        of a class by name or number. Raises `VocabularyError` on any other text, and
        `EvaluationBatchError` on another class."""

    def labels(self, ids: Sequence[int], side: Literal["source", "target"]) -> tuple[str, ...]:
        """The labels of ids one after the other; a model with one stack has one vocabulary."""

    def attentions(self, batch: EvaluationBatch) -> Iterator[LayerAttention]:
        """One pass; the layers of each site together, in the order of `heads`."""

    def logits(
        self,
        batch: EvaluationBatch,
        gates: Tensor | None = None,
        fills: Fills | None = None,
        interventions: Interventions = NO_INTERVENTIONS,
        means: Means | None = None,
    ) -> Tensor:
        """Logits (R, T, V), one pass over the batch, or as many copies of it as there are gates.

        gates: (R, head), R a multiple of N: of sentence n those of row n, N + n, 2 N + n …; they
            scale the output of each head before W_O, and may require gradients.
        fills: the outputs at gate 0; None = zero.
        interventions: besides the gates; means: those they need.
        """

    def choices(self, logits: Tensor) -> Tensor:
        """(R, T) what greedy decoding chooses after each row of logits (R, T, V)."""


class MeasurableModel(Protocol):
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
        """What a reader should know of the model."""

    @property
    def passes(self) -> BatchPasses: ...

    def output_weights(self) -> Mapping[str, list[Tensor]]:
        """By site, the weights W_O (H · K, D) of each layer; head h has K rows from h · K on.

        Raises `ConfigError` for a family of the library that has no such weights.
        """

    def in_languages(self, source: str | None = None, target: str | None = None) -> Self:
        """The model reading and writing other languages. Raises `ConfigError`."""

    def check_text(self, text: str, side: Literal["source", "target"]) -> None:
        """Raise `VocabularyError` on a text that cannot be read or is too long as a source or
        target, `EvaluationBatchError` on a target in a decoder alone."""

    def trace(
        self,
        text: str | None = None,
        *,
        pair: str | None = None,
        messages: Sequence[Mapping[str, str]] | None = None,
        source_language: str | None = None,
        target_language: str | None = None,
        target: str | None = None,
        prefix: str | None = None,
        force: Mapping[int, int] = ...,
        pad_to: int | None = None,
        max_new_tokens: int | None = None,
        capture: str = "pattern",
        layers: Layers = None,
        sites: Iterable[str] | None = None,
        ablate: Iterable[Sequence[Any]] = (),
        keep: Iterable[Sequence[Any]] = (),
        edit_mask: Iterable[Sequence[Any]] = (),
        override_row: Iterable[Sequence[Any]] = (),
        means: Means | None = None,
    ) -> Trace:
        """Decode `text` greedily, then capture everything in one pass over the result."""
