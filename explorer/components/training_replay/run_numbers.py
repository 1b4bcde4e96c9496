"""Numbers of a run for its curves, and of several runs for the table that compares them.

The lines of its metrics may be damaged: a missing or invalid number is None.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from explorer.components.training_replay.run_settings import differing_settings
from explorer.jobs.training_run import Run
from explorer.training.config import TrainingConfig
from explorer.training.run_metrics import best_moment

_SCORES = ("bleu", "chrf", "perplexity", "accuracy", "known_loss", "new_loss")
"""Numbers that only some runs have."""

_LEAST_BLOCK = 4
"""Fewest symbols of a block of induction."""

MOST_RUNS = 5
"""Most runs on screen at a time, the replayed one included."""

_MASTERED = 0.99  # exact match


def finite_number(value: object) -> float | None:
    """A finite number, rounded to six digits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")


def number_map(value: object) -> dict[str, float | None]:
    """Numbers by name; {} if damaged."""
    if not isinstance(value, Mapping):
        return {}
    return {str(name): finite_number(number) for name, number in value.items()}


def number_table(value: object) -> list[list[float | None]]:
    """Rows of numbers; [] if damaged."""
    if not isinstance(value, list):
        return []
    return [[finite_number(number) for number in row] for row in value if isinstance(row, list)]


def chance_weight(config: TrainingConfig) -> float | None:
    """Gold weight of a head with equal weights on all keys; None for a task without a gold."""
    of_task = _CHANCE_WEIGHTS.get(config.task)
    return None if of_task is None else of_task(config.longest, len(config.symbols))


def comparison_rows(
    runs: Sequence[Run], results: Sequence[Mapping[str, Any]], language: str
) -> list[dict[str, Any]]:
    """One row a run: name, the settings in which the runs differ, and its `run_results`."""
    settings = differing_settings([run.config for run in runs], language)
    return [
        {"name": run.name, "settings": own, **result}
        for run, own, result in zip(runs, settings, results, strict=True)
    ]


def compared_curves(run: Run, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The curves of a run to compare with. Of the gold weights, only the best head's."""
    return {"name": run.name, "moments": [_point(line) for line in lines]}


def curve_numbers(line: Mapping[str, Any]) -> dict[str, Any]:
    """Step, losses and scores of a moment; a missing or invalid number is None."""
    of_batches = line.get("loss")  # of the steps since the last moment: older runs have only this
    return {
        "step": int(line["step"]),
        "loss": finite_number(line.get("training_loss", of_batches)),
        "held_out": finite_number(line.get("held_out_loss")),
        "exact": finite_number(line.get("exact_match")),
        **{name: finite_number(line[name]) for name in _SCORES if name in line},
    }


def run_results(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """mastered: first step with 99 % exact match; best_loss: lowest held-out loss, at best_step;
    bleu: highest BLEU; perplexity: lowest one. None for any that does not exist."""
    best = best_moment(lines)
    exact = [(int(line["step"]), finite_number(line.get("exact_match"))) for line in lines]
    bleu, perplexity = (
        [score for line in lines if (score := finite_number(line.get(name))) is not None]
        for name in ("bleu", "perplexity")
    )
    return {
        "mastered": next((step for step, share in exact if share and share >= _MASTERED), None),
        "best_loss": finite_number(best["held_out_loss"]) if best else None,
        "best_step": int(best["step"]) if best else None,
        "bleu": max(bleu, default=None),
        "perplexity": min(perplexity, default=None),
    }


def _point(line: Mapping[str, Any]) -> dict[str, Any]:
    best = {name: _largest(table) for name, table in head_weights(line).items()}
    return {**curve_numbers(line), **best}


def head_weights(line: Mapping[str, Any]) -> dict[str, list[list[float | None]]]:
    """What a moment says of every head, by layer and head: the gold weights and, of a toy task that
    is continued, the weights on the previous token."""
    names = ("gold", "previous") if "previous" in line else ("gold",)
    return {name: number_table(line.get(name)) for name in names}


def _largest(weights: list[list[float | None]]) -> float | None:
    """The largest number of a table; None without any."""
    return max((weight for layer in weights for weight in layer if weight), default=None)


def _of_one_symbol(longest: int, symbols: int) -> float:
    """The chance weight where a symbol of the answer has one origin: 1/(n + 1) for each of n
    symbols and the end of the sequence, averaged over the lengths n."""
    return fmean(1 / (length + 1) for length in range(1, longest + 1))


def _of_equal_symbols(longest: int, symbols: int) -> float:
    """The chance weight where any of the equal symbols is the origin."""
    lengths = range(1, longest + 1)
    return fmean((1 + (length - 1) / symbols) / (length + 1) for length in lengths)


def _of_repeated_block(longest: int, symbols: int) -> float:
    """The chance weight where the origins are the places one block, two blocks, … earlier."""
    most = max(2, min(longest // 2, symbols))
    return fmean(
        fmean((row - 1) // block / (row + 1) for row in range(block + 1, longest))
        for block in range(min(_LEAST_BLOCK, most), most + 1)
    )


_CHANCE_WEIGHTS: Mapping[str, Callable[[int, int], float]] = {
    "copy": _of_one_symbol,
    "induction": _of_repeated_block,
    "reverse": _of_one_symbol,
    "sort": _of_equal_symbols,
}
"""By task: the chance weight, given the longest sequence and the count of distinct symbols."""
