"""`patch`: values of a clean run are put into a corrupted run, one at a time.

Sources: Vig et al. 2020, arXiv 2004.12265; Meng et al. 2022, arXiv 2202.05262; Zhang and Nanda
2024, arXiv 2309.16042.
"""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import torch

from explorer.core.errors import (
    ConfigError,
    EvaluationBatchError,
    InterventionError,
    VocabularyError,
)
from explorer.core.interventions import refuse_weights_only
from explorer.core.sites import Head, given_head
from explorer.core.vocabulary import check_text
from explorer.heads.patching.many_pairs import over_pairs
from explorer.heads.patching.patched_parts import head_parts, positions_of, residual_parts
from explorer.heads.patching.patched_runs import (
    Measure,
    Run,
    TwoRuns,
    patched_metrics,
    point_of,
    run,
)
from explorer.heads.patching.patching_result import AXES, Patching
from explorer.heads.patching.path_patching import before, path_metrics
from explorer.heads.removal.ablation import fitting
from explorer.heads.removal.own_metric import LogitDifference, Metric, finite, named_metric
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel

_ROUNDING = 1e-5
"""Metrics of two runs that differ by less, relative to the larger one, are equal."""


@torch.inference_mode()
def patch(
    model: MeasurableModel,
    clean: str | Iterable[tuple[str, str]],
    corrupted: str | None = None,
    *,
    metric: Metric | LogitDifference | None = None,
    sites: str = "heads",
    prefix: str | Sequence[str] | None = None,
    positions: Iterable[int] | None = None,
    sender: Sequence[Any] | str | None = None,
    receiver: Sequence[Any] | str | None = None,
    batch_size: int | None = None,
) -> Patching:
    """Put values of a clean run into a corrupted run: what share of a metric does each restore?

    >>> model = explorer.load("checkpoints/reverse.safetensors")
    >>> model.patch("7 3 9 1 4", "7 3 9 1 5").matrix.shape  # 6 attentions of 4 heads
    (6, 4)

    clean, corrupted: texts of equally many tokens. Of a model that fills in masks, each has one.
        In the place of both, many such pairs: the table then has means with intervals over them,
        see `over_pairs`, and the other arguments hold for each pair.
    metric: a `logit_difference`, or a function that gives a number for the logits (V,) of the last
        row: of the next token, of the mask or of the classes. None = the logit of what the clean
        run predicts there, minus that of what the corrupted run predicts.
    sites: "heads", the output of one head before W_O; "residual", the residual stream after one
        layer at one position; "paths", the output of one head as far as another one reads it.
    prefix: the beginning of the output, of both runs or a pair of equally many tokens; None =
        nothing yet, so the first token of the output is predicted.
    positions: where to patch, counted from 0 in each stack; None = everywhere. Heads and layers of
        a stack without any of them are left out.
    receiver: of paths, the head at their end, (site, layer, head) or "cross.1.2". sender: the head
        at their beginning; None = each that is computed before the receiver.
    batch_size: the most runs of one pass; None = as many as in `ablate`.

    restored = (patched − corrupted) / (clean − corrupted): 1 = as in the clean run. Each value is
    patched alone, so two that stand in for each other may restore nothing. Cost: two passes, and
    one run for each value, of paths two.

    Raises `VocabularyError` on texts that cannot be read or differ in their number of tokens,
    `ConfigError` on other options, `EvaluationBatchError` on a metric that is the same in both
    runs, and for a model without such logits, and `InterventionError` on heads that do not exist.
    """
    _refuse_options(sites, sender, receiver, batch_size)
    refuse_weights_only(model.facts)
    if corrupted is None:
        options: dict[str, Any] = {"metric": metric, "sites": sites, "prefix": prefix}
        options |= {"positions": positions, "sender": sender, "receiver": receiver}
        each = partial(patch, model, **options, batch_size=batch_size)
        return over_pairs(clean, each)
    batches = _batches(model, clean, corrupted, prefix)
    places = positions_of(positions, batches[0].longest)
    points = model.passes.points("residual" if sites == "residual" else "heads")
    one, other = (run(model, batch, points) for batch in batches)
    predicted, (name, measure), ends = _measured(model, one, other, metric)
    runs = TwoRuns(model, one, other, measure, batch_size or fitting(model, batches[1]))
    target = None if receiver is None else _head(model, receiver)
    names: Sequence[tuple[Any, ...]]
    if sites == "residual":
        names, parts = residual_parts(runs, places)
    else:
        heads = model.passes.heads if target is None else _senders(model, other, sender, target)
        names, parts = head_parts(other, heads, places)
    found = patched_metrics(runs, parts) if target is None else path_metrics(runs, parts, target)
    table = pd.DataFrame(names, columns=_COLUMNS[sites]).assign(metric=found)
    shares = (table.metric - ends[1]) / (ends[0] - ends[1])
    return Patching(sites, name, *ends, table.assign(restored=shares), target, predicted)


_COLUMNS = AXES | {"residual": (*AXES["residual"], "clean_token", "corrupted_token")}


def _refuse_options(sites: object, sender: object, receiver: object, batch_size: object) -> None:
    if not isinstance(sites, str) or sites not in AXES:
        raise ConfigError("patch_sites", got=str(sites), known=", ".join(AXES))
    if sites == "paths" and receiver is None:
        raise ConfigError("patch_receiver")
    if sites != "paths" and not (sender is None and receiver is None):
        raise ConfigError("patch_no_paths", sites=sites)
    if batch_size is not None and (type(batch_size) is not int or batch_size < 1):
        raise ConfigError("no_whole_number", name="batch_size", got=repr(batch_size), least=1)


def _batches(
    model: MeasurableModel, clean: Any, corrupted: str, prefix: str | Sequence[str] | None
) -> list[EvaluationBatch]:
    """Both texts, each as a batch. Raises `VocabularyError` unless their tokens are as many."""
    prefixes = tuple(prefix) if isinstance(prefix, list | tuple) else (prefix, prefix)
    if len(prefixes) != 2:
        raise ConfigError("patch_prefixes", got=len(prefixes))
    batches = list[EvaluationBatch]()
    for text, beginning in zip((clean, corrupted), prefixes, strict=True):
        for given in (text, *(() if beginning is None else (beginning,))):
            check_text(given)
        batches.append(model.passes.begun([text], [beginning], "patch"))
    for side in ("source", "queries"):
        one, other = (getattr(batch, side) for batch in batches)
        if one is not None and len(one.ids[0]) != len(other.ids[0]):
            of_prefix = side == "queries" and batches[0].source is not None
            key = "patch_prefix_lengths" if of_prefix else "patch_lengths"
            raise VocabularyError(key, clean=len(one.ids[0]), corrupted=len(other.ids[0]))
    return batches


def _measured(
    model: MeasurableModel, clean: Run, corrupted: Run, metric: Metric | LogitDifference | None
) -> tuple[tuple[Any, Any] | None, tuple[str, Measure], tuple[float, float]]:
    """The predictions that are compared without a metric, name and function of the metric, and its
    values in both runs. Raises `EvaluationBatchError` if these are equal."""
    predicted = None
    if metric is None:
        predicted, of_logits = _predictions_apart(model, clean, corrupted)
        name = LogitDifference(*predicted).name
    else:
        name, of_logits = named_metric(model, metric)
    ends = finite(of_logits(clean.logits)), finite(of_logits(corrupted.logits))
    if math.isclose(*ends, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        raise EvaluationBatchError("patch_equal_metrics", name=name, value=f"{ends[0]:.3f}")
    return predicted, (name, lambda logits: finite(of_logits(logits))), ends


def _predictions_apart(
    model: MeasurableModel, clean: Run, corrupted: Run
) -> tuple[tuple[Any, Any], Metric]:
    """Both predictions, and the logit of the clean one minus that of the corrupted one."""
    one, other = (int(each.logits.argmax()) for each in (clean, corrupted))
    tokens = model.passes.predicts_tokens
    labels = [
        model.passes.labels([number], "target")[0] if tokens else number for number in (one, other)
    ]
    if one == other:
        raise EvaluationBatchError("patch_same_prediction", token=labels[0])
    return (labels[0], labels[1]), lambda logits: logits[one] - logits[other]


def _senders(
    model: MeasurableModel, corrupted: Run, sender: Sequence[Any] | str | None, receiver: Head
) -> list[Head]:
    """The heads at the beginning of the paths. Raises `InterventionError` unless they are computed
    before the receiver."""
    earlier = set(before(corrupted, receiver))
    heads = model.passes.heads if sender is None else [_head(model, sender)]
    found = [head for head in heads if point_of(head) in earlier]
    if not found:
        name = "each head" if sender is None else str(heads[0])
        raise InterventionError("patch_order", sender=name, receiver=str(receiver))
    return found


def _head(model: MeasurableModel, given: Sequence[Any] | str) -> Head:
    """The head that is `given`. Raises `InterventionError` on one that does not exist."""
    known = model.passes.heads
    found = given_head(given, known)
    if found is None:
        raise InterventionError("patch_head", got=repr(given), last=str(known[-1]))
    return found
