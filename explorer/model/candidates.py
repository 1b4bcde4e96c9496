"""The candidates of each step, as the columns of `Trace.steps`."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.model.row_logits import RowLogits

CANDIDATES = 10
"""The most probable tokens listed at each step, beside the one that follows."""


def step_columns(
    logits: RowLogits, rows: Tensor, chosen: Tensor, forced: Tensor, first_id: int = 0
) -> dict[str, NDArray[Any]]:
    """The columns "steps.…" of the steps after `rows` (T,), which ascend.

    chosen: (T,) the ids that follow. forced: as in `candidate_columns`.
    first_id: the first id that may follow; the ids before it have probability too.
    """
    parts = []
    for own, found in logits.at(rows):
        shares = found.float().softmax(-1)[:, first_id:]
        columns = candidate_columns(shares, chosen[own] - first_id, forced[own], first_id)
        columns["steps.step"] = rows[own].numpy()[columns["steps.step"] - 1] + 1
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def candidate_columns(
    probabilities: Tensor, chosen: Tensor, forced: Tensor, first_id: int = 0
) -> dict[str, NDArray[Any]]:
    """The columns "steps.…" of T steps, those of the most probable candidates first.

    probabilities: (T, V) of the ids from `first_id` on.
    chosen: (T,) column of the token that follows; it is listed with its rank however low.
    forced: (T,) bool, whether it was chosen by a person.
    """
    taken = chosen[:, None]  # (T, 1)
    best = probabilities.topk(min(CANDIDATES, probabilities.size(1)))
    own = probabilities.gather(1, taken)  # (T, 1)
    ranks = 1 + (probabilities > own).sum(1)
    is_taken = best.indices == taken  # (T, best)
    listed = is_taken.any(1)
    ranks = torch.where(listed, is_taken.int().argmax(1) + 1, ranks)
    rows = len(probabilities)
    ids = torch.cat([best.indices, taken], 1)  # (T, best + 1)
    order = torch.arange(1, best.indices.size(1) + 1).expand(rows, -1)
    keep = torch.cat([torch.ones_like(order, dtype=torch.bool), ~listed[:, None]], 1)
    is_chosen = ids == taken
    columns = {
        "step": torch.arange(1, rows + 1)[:, None].expand_as(ids),
        "rank": torch.cat([order, ranks[:, None]], 1),
        "id": ids + first_id,
        "probability": torch.cat([best.values, own], 1),
        "chosen": is_chosen,
        "forced": is_chosen & forced[:, None],
    }
    return {f"steps.{name}": column[keep].numpy() for name, column in columns.items()}
