"""Greedy outputs of a translator that decodes with fewer heads."""

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.data.task_names import task_of
from explorer.heads.metrics.evaluation_batches import Progress, no_progress
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.greedy_decoding import greedy
from explorer.model.intervention_hooks import Fills, gated
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for

_DECODED_TOGETHER = 64  # sentences
_MOST_ROWS = 256  # rows of one decoding, over several gates

References = Sequence[Sequence[str]]
"""The known translations of each sentence."""


def translator(model: MeasurableModel) -> ExplorableModel | None:
    """`model` if it was trained here and translates, so that BLEU can be measured; else None."""
    if not isinstance(model, ExplorableModel) or task_of(model.facts) is not None:
        return None
    return None if model.transformer.config.decoder_only else model


def decoded(
    model: ExplorableModel, batch: EvaluationBatch, gates: Tensor, fills: Fills | None = None
) -> list[str]:
    """The greedy output of each sentence with the gates (head,).

    fills: outputs that replace those of heads with gate 0.
    """
    (outputs,) = decoded_each(model, batch, gates[None], fills)
    return outputs


@torch.inference_mode()
def decoded_each(
    model: ExplorableModel,
    batch: EvaluationBatch,
    gates: Tensor,
    fills: Fills | None = None,
    progress: Progress = no_progress,
) -> list[list[str]]:
    """As `decoded`, for each of several gates (V, head)."""
    assert batch.source is not None
    transformer, limit = model.transformer, model.transformer.config.max_length
    outputs = [[""] * len(batch) for _ in gates]
    done = 0
    for numbers in torch.split(batch.source.lengths.argsort(stable=True), _DECODED_TOGETHER):
        sources = batch.chosen(numbers).source
        assert sources is not None
        room = min(limit, 3 * sources.ids.size(1) + 20)  # an endless repetition ends here
        for some in torch.split(torch.arange(len(gates)), max(1, _MOST_ROWS // len(numbers))):
            ids = sources.ids.repeat(len(some), 1)
            rows = gates[some].repeat_interleave(len(numbers), 0)
            with threads_for(model.passes.parameters, len(ids)), gated(transformer, rows, fills):
                decoded_ids = greedy(transformer, ids, room).tolist()
            places = [(variant, number) for variant in some.tolist() for number in numbers.tolist()]
            for (variant, number), row in zip(places, decoded_ids, strict=True):
                outputs[variant][number] = model.target_vocabulary.decode(row)
            done += len(decoded_ids)
            progress(done / (len(gates) * len(batch)))
    return outputs
