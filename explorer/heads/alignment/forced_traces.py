"""Traces of the cross-attention of sentence pairs, teacher-forced, many in one pass.

They hold only what alignment reads. `ExplorableModel.trace` decodes each pair alone, step by step,
and measures its own integrity, which takes tens of times as long.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from explorer.core.trace import Trace
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.threads import threads_for

MOST_TOKENS = 4096
"""Tokens of one pass, padding included: both sides of all its pairs."""


def forced_traces(
    model: ExplorableModel, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[int, Trace]]:
    """Yield the number of each pair (source, target) and its trace, in the order of their lengths.

    The traces have only cross-attention.

    Raises `VocabularyError` on a text that cannot be read or is too long.
    """
    if not pairs:
        return
    batch = model.passes.pairs(pairs, "pairs")
    assert batch.source is not None
    assert batch.queries is not None
    order = (batch.source.lengths + batch.queries.lengths).argsort(stable=True)
    for rows in _parts(batch, order):
        yield from zip(rows.tolist(), _traces(model, batch, rows), strict=True)


def _parts(batch: EvaluationBatch, order: torch.Tensor) -> Iterator[torch.Tensor]:
    """Rows of the batch, those of each pass together; the last ones of a pass are the longest."""
    assert batch.source is not None
    assert batch.queries is not None
    longest = batch.source.lengths + batch.queries.lengths
    start = 0
    for end in range(1, len(order) + 1):
        full = end < len(order) and (end + 1 - start) * int(longest[order[end]]) > MOST_TOKENS
        if full or end == len(order):
            yield order[start:end]
            start = end


def _traces(model: ExplorableModel, batch: EvaluationBatch, rows: torch.Tensor) -> list[Trace]:
    """One pass over these rows."""
    part = batch.chosen(rows)
    assert part.source is not None
    assert part.queries is not None
    with threads_for(model.passes.parameters, part.pass_tokens):
        layers = [one.weights for one in model.passes.attentions(part) if one.site == "cross"]
    weights = torch.stack(layers, 1).numpy()  # (N, L, H, T, S)
    traces = []
    for number in range(len(part)):
        source = int(part.source.lengths[number])
        steps = int(part.queries.lengths[number])
        traces.append(
            Trace(
                model.source_vocabulary.labels(part.source.ids[number, :source].tolist()),
                model.target_vocabulary.labels(part.queries.ids[number, :steps].tolist()),
                model.target_vocabulary.labels(part.labels.ids[number, :steps].tolist()),
                "",
                {
                    "cross.attention": weights[number, :, :, :steps, :source],
                    "cross.closed": np.zeros((steps, source), np.uint8),
                },
            )
        )
    return traces
