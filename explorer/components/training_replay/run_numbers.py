"""Numbers of a run for its curves, and of several runs for the table that compares them.

The lines of its metrics may be damaged: a missing or invalid number is None.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.components.training_replay.run_settings import differing_settings
from explorer.jobs.training_run import Run
from explorer.training.config import TrainingConfig
from explorer.training.run_metrics import best_moment

_GOLD_POSITIONS: Mapping[str, Callable[[int, int], float]] = {
    "copy": lambda length, symbols: 1.0,
    "reverse": lambda length, symbols: 1.0,
    "sort": lambda length, symbols: 1 + (length - 1) / symbols,  # equal symbols: any of them
}
"""By task: how many positions a symbol of the answer may come from, on average, given the length
and the count of distinct symbols."""

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
    """Gold weight of a head with equal weights on all keys: 1/(n + 1) for each of n symbols and the
    end of the sequence, averaged over the lengths. None for a task without a known gold."""
    positions = _GOLD_POSITIONS.get(config.task)
    if positions is None:
        return None
    symbols = len(config.symbols)
    weights = [positions(n, symbols) / (n + 1) for n in range(1, config.longest + 1)]
    return sum(weights) / len(weights)


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
    scores = ("bleu", "chrf", "perplexity", "accuracy")
    of_batches = line.get("loss")  # of the steps since the last moment: older runs have only this
    return {
        "step": int(line["step"]),
        "loss": finite_number(line.get("training_loss", of_batches)),
        "held_out": finite_number(line.get("held_out_loss")),
        "exact": finite_number(line.get("exact_match")),
        **{name: finite_number(line[name]) for name in scores if name in line},
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
    gold = [weight for layer in number_table(line.get("gold")) for weight in layer if weight]
    return {**curve_numbers(line), "gold": max(gold, default=None)}
