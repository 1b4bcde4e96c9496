"""Studies of a model besides traces, as methods of the models that `explorer.load` returns."""

import operator
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias

import pandas as pd

from explorer.core.errors import ConfigError, RemovedError
from explorer.core.interventions import Interventions
from explorer.heads import measure
from explorer.heads.contributions import agreement
from explorer.heads.contributions.contributions import contributions as _contributions
from explorer.heads.contributions.logit_attribution import logit_attribution as _attribution
from explorer.heads.contributions.score_parts import score_parts as _score_parts
from explorer.heads.metrics.evaluation_batches import (
    given_sentences,
    listed_texts,
    repeated_sequences,
)
from explorer.heads.patching.activation_patching import patch as _patch
from explorer.heads.pruning_curve import pruning_curve
from explorer.heads.removal import ablation, counterfactuals
from explorer.heads.removal.own_metric import LogitDifference, Metric, TextMetric
from explorer.heads.reports.head_report import REMOVED_ON, HeadReport
from explorer.heads.search.attention_index import AttentionIndex
from explorer.heads.search.index_building import Corpus, attention_index
from explorer.model.measurable import MeasurableModel
from explorer.model.text_run import points as _points
from explorer.model.text_run import run as _run

Texts: TypeAlias = Iterable[str] | Iterable[tuple[str, str]]
"""Sentences, or pairs of source and target."""

Labels: TypeAlias = Iterable[str] | Iterable[int] | Iterable[Sequence[str]]
"""Of texts: classes by name or number, or the tags of their words."""


_REMOVED = ("beam", "weight_scores")
"""Methods of earlier versions."""


class HeadStudies:
    """Mixed into a `MeasurableModel`; each method is a function of `heads`, or calls one."""

    contributions = _contributions
    logit_attribution = _attribution
    patch = _patch
    points = _points
    run = _run
    score_parts = _score_parts

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise `RemovedError` for a method of an earlier version."""
            if name in _REMOVED:
                raise RemovedError(name)
            raise AttributeError(f"this model has no attribute {name!r}", name=name, obj=self)

    def contribution_agreement(self: MeasurableModel, texts: Texts | None = None) -> pd.DataFrame:
        """How well each method of `contributions` agrees with leave-one-out on the source.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.contribution_agreement(["7 3 9", "4 1"]).columns[:4].to_list()
        ['method', 'top', 'top_low', 'top_high']

        texts: as in `measure`. top: the share of the output tokens with the same largest source
        token; spearman: the rank correlation over source tokens; both with intervals over
        sentences. All columns: `heads.contributions.agreement`.

        Raises as `measure`, and `ConfigError` for a model that predicts no next tokens.
        """
        batch = given_sentences(self, texts)
        return agreement.contribution_agreement(self, batch)

    def measure(
        self: MeasurableModel,
        texts: Texts | None = None,
        labels: Labels | None = None,
        *,
        repeated: int = 0,
        importance: bool = False,
        removed_on: int = 0,
        metric: Metric | LogitDifference | None = None,
    ) -> HeadReport:
        """Metrics and roles of every head over sentences: tables with intervals.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.measure(["7 3 9", "4 1"]).heads.shape[0]  # one row a head
        24

        texts: sentences, whose outputs the model decodes; pairs (source, target); repeated ones
            count once; None = 256 held-out sequences of its toy task.
        labels: of a classifier, the class of each text, or pair of two, by name or number; of a
            tagger one tag for each word of a text. The loss is then their cross-entropy.
        repeated: instead of texts, so many sequences of random tokens for a decoder alone, each a
            block of 25 or fewer twice: what comes next is known from what came before alone, which
            shows induction heads (Olsson et al. 2022, arXiv 2209.11895).
        importance: also the importance of each head by gradient.
        removed_on: number of the sentences on which each head is also removed in turn; 0 = none.
        metric: measured without each head instead of the loss, as `zero_metric` and so on: a
            `logit_difference`, or a function that gives a number for the logits (V,) of the token
            after a text, of its mask or of its classes.

        Raises `EvaluationBatchError` on a value that is no list of texts or pairs, without texts
        for a model that has no toy task, and on importance or removal in a model that predicts no
        tokens; `VocabularyError` on a text that cannot be read or is too long, `ConfigError` on
        other options.
        """
        _refuse_no_number("removed_on", removed_on)
        if not isinstance(importance, bool):
            raise ConfigError("bad_flag", name="importance", got=repr(importance))
        _refuse_no_number("repeated", repeated)
        if repeated and any(given is not None for given in (texts, labels, metric)):
            raise ConfigError("texts_and_repeated")
        batch = (
            repeated_sequences(self, repeated) if repeated else given_sentences(self, texts, labels)
        )
        own = None if metric is None else TextMetric.of(self, metric, texts)
        removed = removed_on or (0 if own is None else REMOVED_ON)
        return measure.measure(self, batch, gradients=importance, removed_on=removed, metric=own)

    def ablate(
        self: MeasurableModel,
        heads: Iterable[Sequence[Any] | str],
        texts: Texts | None = None,
        labels: Labels | None = None,
        *,
        metric: Metric | LogitDifference | None = None,
    ) -> pd.DataFrame:
        """Changes of loss and exact match over sentences when some heads are removed together.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.ablate([("cross", 1, 2)], ["7 3 9", "4 1"]).columns.to_list()
        ['before', 'after', 'change', 'low', 'high']

        heads: as `ablate` in `trace`: (site, layer, head), None as head for all of the layer,
            "mean" as a fourth item for the mean output over the sentences instead of zero; or
            texts, "cross.1.2", "cross.1.*" and "cross.1.2 mean".
        texts, labels: as in `measure`. Rows loss (nats a token) and exact (share of outputs); low,
            high: of the change, see `ablation`.
        metric: as in `measure`; then the table has its row alone.

        Raises as `measure`, and `InterventionError` on heads that do not exist.
        """
        given = None if texts is None else listed_texts(texts)
        batch = given_sentences(self, given, labels)
        removed = Interventions.gather(ablate=heads)
        means = counterfactuals.mean_outputs(self, batch) if removed.needs_mean_outputs else None
        if metric is not None:
            own = TextMetric.of(self, metric, given)
            return ablation.effect(self, own.batch, removed, means, metric=own)
        return ablation.effect(self, batch, removed, means)

    def prune(
        self: MeasurableModel,
        texts: Texts | None = None,
        order: str = "importance",
        *,
        labels: Labels | None = None,
        seed: int = 0,
    ) -> pd.DataFrame:
        """A pruning curve: the loss per token as heads are removed, the least important first.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.prune(["7 3 9", "4 1"]).heads_left.tolist()[:4]  # of 24
        [24, 22, 20, 18]

        texts, labels: as in `measure`.
        order: "importance", "confidence", "contribution", "greedy" or "random"; their definitions,
            and the columns: `heads.pruning_curve`. `explorer.figure` draws several, by their order.
        seed: of the random orders.

        Raises `ConfigError` on another order or seed, otherwise as `measure`.
        """
        _refuse_no_number("seed", seed)
        batch = given_sentences(self, texts, labels)
        return pruning_curve(self, batch, order, seed=seed)

    def index(self: MeasurableModel, texts: Texts | None, path: str | Path) -> AttentionIndex:
        """The index of the attention of every head over texts, in the file `path`, with `search`.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> index = model.index(["7 3 9", "4 1"], "reverse.index")
        >>> index.search(("cross", 1, 2), tokens=(None, "7")).source.to_list()
        ['7 3 9']

        texts: as in `measure`. path: an index of this model and these texts that is there is
            opened, else a new one is built and written. `explorer.open_index` needs no model.

        Raises as `measure`; `SearchError` if the file holds anything else, and on more weights
        than an index may have; `FileError` if it cannot be written.
        """
        return attention_index(self, Corpus.of(self, texts), path)


def _refuse_no_number(name: str, value: object) -> None:
    """Raise `ConfigError` unless `value` is a whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or operator.index(value) < 0:
        raise ConfigError("no_whole_number", name=name, got=repr(value), least=0)
