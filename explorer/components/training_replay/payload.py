"""A run as a payload for the training replay: its curves, its state, addresses of its probes.

The payload is JSON without arrays. The probe traces are not part of it: the browser fetches each
of them once, from an address that changes with the content, and caches it; so each new moment of
a run adds only a line to the payload.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from explorer.components.payload import PROJECT
from explorer.components.player.sentences import player_sentences
from explorer.components.training_replay.run_numbers import (
    chance_weight,
    compared_curves,
    comparison_rows,
    curve_numbers,
    finite_number,
    head_weights,
    number_map,
    run_results,
)
from explorer.components.training_replay.run_settings import run_settings
from explorer.components.training_replay.status_text import RunReport, run_report
from explorer.core.i18n import say, section
from explorer.jobs.log import log_tail
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run
from explorer.training.run_metrics import best_moment

FORMAT_VERSION = 1
MOST_MOMENTS = 400
"""A longer run is thinned to every second, fourth, … moment."""

_PROBE_VERSION = 2
"""Part of the addresses of probe traces, so that browsers request them again when their content
changes."""

_LONGEST_SAMPLE = 240
"""Most characters; a model that has learnt little may repeat itself up to the length limit."""

_LOG_LINES = 12


def replay_payload(
    key: str,
    run: Run,
    *,
    language: str = "en",
    others: Sequence[Run] = (),
    link: str = "",
    opens: bool = False,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """Payload for the training replay of `run`.

    key: run root and name, "runs/reverse-3".
    others: runs whose curves are drawn over those of this one.
    link: address of the head that the explanation of the run refers to; "" without one.
    opens: whether Explore can open a model of the run.
    more: further fields.
    """
    content = {
        **_described(key, run, language, others),
        "strings": section("training_replay", language),
        "player": player_sentences(language),
        "opens": opens,
        "link": {"address": link, "label": say("run_settings.leak_link", language)},
        "log": log_tail(run.log_path, _LOG_LINES),
        **(more or {}),
    }
    return _as_json(content)


def guest_payload(key: str, run: Run, language: str, others: Sequence[Run]) -> bytes:
    """Payload for the replay of `run` on the page of a guest of a class: without the sentences,
    which that page has, the log, and links to Explore. See `replay_payload`."""
    bare = {"strings": {}, "player": {}, "opens": False, "log": []}
    link = {"address": "", "label": ""}
    return _as_json({**_described(key, run, language, others), **bare, "link": link})


def _described(key: str, run: Run, language: str, others: Sequence[Run]) -> dict[str, Any]:
    """The run and its state, in a language."""
    status = run.status()
    lines, moments, best = _read(key, run, _stamp(run))
    compared = [_read_compared(other, _stamp(other)) for other in [run, *others]]
    results = [results for _, results in compared]
    return {
        "version": FORMAT_VERSION,
        "key": f"{key}@{run.created}",
        "name": run.name,
        "language": language,
        "project": PROJECT,
        "steps": run.config.steps,
        "every": run.config.evaluate_every,
        "task": run.config.task,
        "site": "cross" if run.config.encoder_layers else "decoder",
        "translates": bool(run.config.pairs),
        "continues": bool(run.config.texts),
        "causal": run.config.causal,
        "batch_loss": bool(lines) and "training_loss" not in lines[-1],
        "chance": finite_number(chance_weight(run.config)),
        "samples": _samples(lines, "source", "reference"),
        "moments": moments,
        "best": best,
        "others": [curves for curves, _ in compared[1:]],
        "rows": comparison_rows([run, *others], results, language) if others else [],
        "report": _report(
            run_report(run, status, lines, language, recorded=key.startswith("recorded/")), status
        ),
        "settings": asdict(run_settings(run, language)),
    }


def _as_json(content: Mapping[str, Any]) -> bytes:
    """On one line."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode(errors="replace")


def thinned(
    moments: Sequence[Mapping[str, Any]], best: Mapping[str, Any] | None = None
) -> list[Mapping[str, Any]]:
    """About `MOST_MOMENTS` of them, the last one and `best`; those kept stay as the run grows."""
    stride = 1
    while len(moments) > stride * MOST_MOMENTS:
        stride *= 2
    last = len(moments) - 1
    return [
        moment
        for index, moment in enumerate(moments)
        if index % stride == 0 or index == last or moment is best
    ]


def _stamp(run: Run) -> tuple[int, ...]:
    """Sizes and times that change with the metrics and the list of probe traces."""
    stamp: list[int] = []
    for path in (run.folder / "metrics.jsonl", run.folder / "moments"):
        try:
            status = path.stat()
            stamp += (status.st_mtime_ns, status.st_size)
        except OSError:
            stamp.append(0)
    return tuple(stamp)


@lru_cache(maxsize=16)
def _read(
    key: str, run: Run, stamp: tuple[int, ...]
) -> tuple[tuple[Mapping[str, Any], ...], tuple[dict[str, Any], ...], int | None]:
    """The last line of the metrics, if any, the moments, and the step of the best one; shared by
    all visitors."""
    lines, probes = run.moments(), _probe_names(run)
    best = best_moment(lines)
    moments = tuple(_moment(key, run, line, probes) for line in thinned(lines, best))
    return tuple(lines[-1:]), moments, int(best["step"]) if best else None


@lru_cache(maxsize=64)
def _read_compared(run: Run, stamp: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The curves of a run beside others, and its results; shared by all visitors."""
    lines = run.moments()
    return compared_curves(run, thinned(lines)), run_results(lines)


def _moment(key: str, run: Run, line: Mapping[str, Any], probes: set[str]) -> dict[str, Any]:
    """One moment; a missing or invalid number leaves a gap in its curve."""
    step = int(line["step"])
    stored = run.probe_path(step).name in probes
    written = f"{run.created:.3f}-{finite_number(line.get('seconds'))}"
    version = quote(f"{_PROBE_VERSION}-{written}")
    return {
        **curve_numbers(line),
        **head_weights(line),
        "rate": finite_number(line.get("rate")),
        "norm": finite_number(line.get("gradient_norm")),
        "norms": number_map(line.get("gradient_norms")),
        "speed": finite_number(line.get("tokens_per_second")),
        "memory": finite_number(line.get("memory")),
        "greedy": str(line.get("greedy", ""))[:_LONGEST_SAMPLE],
        "written": [sample["written"] for sample in _samples([line], "written")],
        "probe": f"moments/{quote(key)}/{step}?{version}" if stored else None,
    }


def _samples(lines: Sequence[Mapping[str, Any]], *parts: str) -> list[dict[str, str]]:
    """The named parts of the translations in the last line; [] if missing or damaged."""
    found = lines[-1].get("samples") if lines else None
    if not isinstance(found, list):
        return []
    return [
        {name: str(sample.get(name, ""))[:_LONGEST_SAMPLE] for name in parts}
        for sample in found
        if isinstance(sample, Mapping)
    ]


def _report(found: RunReport, status: Status) -> dict[str, Any]:
    return {
        "state": status.state,
        "going": found.going,
        "share": found.share,
        "words": found.words,
        "facts": found.facts,
        "details": found.details,
        "problem": found.problem,
    }


def _probe_names(run: Run) -> set[str]:
    try:
        return {path.name for path in (run.folder / "moments").iterdir()}
    except OSError:
        return set()
