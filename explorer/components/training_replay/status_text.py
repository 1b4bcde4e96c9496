"""The state of a run as text: a sentence, its figures, and why it failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.components.labels import short_time
from explorer.components.training_replay.run_numbers import finite_number
from explorer.core.i18n import say
from explorer.jobs import training_launcher
from explorer.jobs.status import ACTIVE_STATES, Status
from explorer.jobs.training_run import Run
from explorer.training.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class RunReport:
    """The state of a run as text.

    words: the state.
    facts: the figures beside it.
    details: figures of the machine and the seed, which Simple leaves out.
    problem: why the run failed, or how to resume it; "" for neither.
    share: the share that is done, 0..1.
    going: whether the run may still change.
    """

    words: str
    facts: list[str]
    details: list[str]
    problem: str
    share: float
    going: bool


def run_report(
    run: Run,
    status: Status,
    moments: Sequence[Mapping[str, Any]],
    language: str,
    *,
    recorded: bool = False,
) -> RunReport:
    """The report on `run`, from its status and its metrics so far.

    recorded: whether it ships with the app; how long it took elsewhere says nothing here.
    """
    steps = run.config.steps
    at = status.step
    if moments:
        at = max(at, int(moments[-1]["step"]))
    finished = status.state == "done"
    return RunReport(
        words=_words(run, status, moments, at, language),
        facts=_facts(run, status, moments, at, language, recorded),
        details=_details(run, moments, language),
        problem=_problem(status, language),
        share=1.0 if finished else min(at / steps, 1.0),
        going=status.state in ACTIVE_STATES,
    )


def _words(
    run: Run, status: Status, moments: Sequence[Mapping[str, Any]], at: int, language: str
) -> str:
    """The state. For a waiting run, also the number of runs before it; for a run that ended before
    its last step, also why."""
    if status.is_starting:
        return say("train.state_starting", language)
    if status.state == "waiting":
        return say("train.state_waiting", language, count=training_launcher.jobs_ahead(run))
    if status.state == "done" and at < run.config.steps:
        return _early_end(run.config, moments, language)
    if status.diverged:
        return say("train.state_diverged", language)
    if status.state in ("preparing", "running") and run.stop_requested():
        return say("train.state_stopping", language)
    return say(f"train.state_{status.state}", language)


def _early_end(config: TrainingConfig, moments: Sequence[Mapping[str, Any]], language: str) -> str:
    """Sentence on what ended a run early: the score it had to reach, or its patience."""
    bleu = finite_number(moments[-1].get("bleu")) if moments else None
    exact = finite_number(moments[-1].get("exact_match")) if moments else None
    right = finite_number(moments[-1].get("accuracy")) if moments else None
    score = bleu / 100 if bleu is not None else right if right is not None else exact
    if config.patience and (score is None or not score >= config.until < 1):
        return say("train.state_patience", language, patience=config.patience)
    if config.pairs and exact == 1:
        return say("train.state_all_right", language)
    reached = "state_reached_bleu" if bleu is not None else "state_reached"
    if right is not None:
        reached = "state_reached_right"
    return say(f"train.{reached}", language, share=f"{100 * config.until:g}")


def _facts(
    run: Run,
    status: Status,
    moments: Sequence[Mapping[str, Any]],
    at: int,
    language: str,
    recorded: bool,
) -> list[str]:
    """step 310/450 · 87 % right · 6 s left"""
    facts = [say("train.fact_step", language, step=at, steps=run.config.steps)]
    if not moments:
        return [*facts, *_pairs_facts(run, language)]
    now = moments[-1]
    if (exact := finite_number(now.get("exact_match"))) is not None:
        facts.append(say("train.fact_exact", language, value=f"{100 * exact:.1f}"))
    if (right := finite_number(now.get("accuracy"))) is not None:
        facts.append(say("train.fact_right", language, value=f"{100 * right:.1f}"))
    for name in ("bleu", "chrf"):
        if (score := finite_number(now.get(name))) is not None:
            facts.append(say(f"train.fact_{name}", language, value=f"{score:.1f}"))
    if (seconds := finite_number(now.get("seconds"))) is not None and seconds >= 0 and now["step"]:
        left = (run.config.steps - at) * seconds / now["step"]
        if status.state == "running":
            facts.append(say("train.fact_left", language, time=short_time(left, language)))
        elif not recorded:
            facts.append(say("train.fact_took", language, time=short_time(seconds, language)))
    return [*facts, *_pairs_facts(run, language)]


def _details(run: Run, moments: Sequence[Mapping[str, Any]], language: str) -> list[str]:
    """84 k tokens/s · 410 MB · cpu · seed 417"""
    now = moments[-1] if moments else {}
    details = []
    if (speed := finite_number(now.get("tokens_per_second"))) is not None:
        details.append(say("train.fact_speed", language, value=f"{speed / 1000:.1f}"))
    if (memory := finite_number(now.get("memory"))) is not None:
        details.append(say("train.fact_memory", language, value=f"{memory:.0f}"))
    seed = say("train.fact_seed", language, value=run.config.seed)
    return [*details, run.config.device, seed]


def _pairs_facts(run: Run, language: str) -> list[str]:
    """Number of sentence pairs used and number of pairs that were too long, once known."""
    counts = run.data_facts().get("pairs")
    if not isinstance(counts, Mapping):
        return []
    kept, overlong = finite_number(counts.get("kept")), finite_number(counts.get("overlong"))
    if kept is None or overlong is None:
        return []
    facts = [say("train.fact_pairs", language, count=f"{kept - overlong:,.0f}")]
    return [*facts, say("train.fact_overlong", language, count=f"{overlong:,.0f}")]


def _problem(status: Status, language: str) -> str:
    """Why it failed, in the visitor's language, or how to resume an interrupted run."""
    if (failure := status.failure) is not None:
        return failure.in_language(language)
    if status.state == "interrupted":
        return say("train.interrupted_hint", language)
    return ""
