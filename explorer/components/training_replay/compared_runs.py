"""Runs beside each other: their curves, and one row each with the differences between them."""

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components.training_replay.run_numbers import finite_number, number_table
from explorer.components.training_replay.run_settings import differing_settings
from explorer.jobs.training_run import Run
from explorer.training.run_metrics import best_moment

MOST_RUNS = 5
"""Most runs on screen at a time, the replayed one included."""

_MASTERED = 0.99  # exact match


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
    scores = ("bleu", "chrf", "perplexity")
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
    bleu: highest BLEU. None for any that does not exist."""
    best = best_moment(lines)
    exact = [(int(line["step"]), finite_number(line.get("exact_match"))) for line in lines]
    bleu = [finite_number(line.get("bleu")) for line in lines]
    return {
        "mastered": next((step for step, share in exact if share and share >= _MASTERED), None),
        "best_loss": finite_number(best["held_out_loss"]) if best else None,
        "best_step": int(best["step"]) if best else None,
        "bleu": max((score for score in bleu if score is not None), default=None),
    }


def _point(line: Mapping[str, Any]) -> dict[str, Any]:
    gold = [weight for layer in number_table(line.get("gold")) for weight in layer if weight]
    return {**curve_numbers(line), "gold": max(gold, default=None)}
