"""The metrics of a run, metrics.jsonl: one line of JSON for each moment of the training.

`pandas.read_json("metrics.jsonl", lines=True)` reads it, too. Contents of a line; all three losses
are nats a target token, with the label smoothing of the training:

    step, seconds           steps and seconds of training so far, pauses not counted
    training_loss           of this moment's weights, on a fixed sample of the training data
    held_out_loss           of the same weights, on data that are not trained on; both without
                            dropout, so their difference shows only overfitting
    loss                    mean over the steps since the last moment, with dropout, of the
                            weights at each step: the quantity that the optimiser minimises
    exact_match, gold       of a toy task: 0 to 1; weight of each cross head on its gold position
    perplexity, bleu, chrf  of a translation, on held-out data: e to the loss without smoothing;
                            scores from 0 to 100
    samples                 of a translation: some with source, written and reference
    rate, gradient_norm     of the last step; gradient_norms: of each layer
    tokens_per_second, memory, greedy

Older runs have no training_loss, or no held_out_loss either. The best moment is the one with the
lowest held-out loss, see `best_moment`.

Lines are added one by one; a last one that a crash cut short is ignored.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import ExplorerError, RunError
from explorer.core.files import log_skipped, read_bytes, replace_atomically, writing

LARGEST_METRICS = 16 * 2**20
"""Bytes, some twenty thousand moments. Larger metrics are not read."""

MOST_LINES = 100_000
"""Most lines of the metrics. Longer ones are not read."""

_MOST_METRICS = 2_000_000  # values in all lines together
_LARGEST_LOSS = 1e30


def read(path: Path) -> list[dict[str, Any]]:
    """The readable lines of the file at `path`, in the order of their steps, each step once."""
    moments: dict[int, dict[str, Any]] = {}
    try:
        data = read_bytes(path, LARGEST_METRICS)
        values = sum(map(data.count, (b",", b"[", b"{")))
        if data.count(b"\n") > MOST_LINES or values > _MOST_METRICS:
            raise RunError("damaged_run", name=path.parent.name, file=path.name)
    except ExplorerError as error:
        if os.path.lexists(path):
            log_skipped(path, error)
        return []
    for line in data.split(b"\n"):  # str.splitlines would split inside texts
        try:
            moment = json_values.parse_object(line.decode(errors="replace"))
            step = moment["step"] = json_values.whole_number(moment["step"])
            moments[step] = moment
        except (ValueError, KeyError, TypeError):
            continue  # a damaged line; the others are still good
    return [moments[step] for step in sorted(moments)]


def append(path: Path, moment: Mapping[str, Any]) -> None:
    """Add one line to the file at `path`. Raises `FileError`."""
    with writing(path), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(moment, ensure_ascii=False) + "\n")


def discard_after(path: Path, step: int) -> None:
    """Write the file at `path` again without the lines after `step`. Raises `FileError`."""
    lines = [json.dumps(m, ensure_ascii=False) for m in read(path) if m["step"] <= step]
    replace_atomically(path, "".join(line + "\n" for line in lines).encode())


def best_moment(moments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first of `moments` with the lowest held-out loss, or None if none has a held-out loss.

    Its weights are in best.safetensors.
    """
    found: Mapping[str, Any] | None = None
    lowest = math.inf
    for moment in moments:
        loss = json_values.number(moment.get("held_out_loss"), 0.0, _LARGEST_LOSS, math.inf)
        if loss < lowest:
            found, lowest = moment, loss
    return found
