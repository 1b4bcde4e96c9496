"""A run as the bytes the time-lapse eats: its curves, its state, and where its pictures are.

The bytes are JSON. The pictures themselves are not in it: a browser asks for each one once, by
an address that names its contents, and keeps it; so a run that grows costs a line a moment.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from explorer.components.training_replay.status_text import Report, report
from explorer.core.i18n import section
from explorer.training.run_directory import Run, Status

FORMAT_VERSION = 1
MOST_MOMENTS = 400
"""A longer run is thinned to every second, fourth, … moment."""

_SCORES = ("bleu", "chrf", "perplexity")
_LONGEST_SAMPLE = 240
"""Characters; a model that has learnt little may go on and on."""

_LOG_BYTES = 4096
_LOG_LINES = 12


def payload(key: str, run: Run, *, language: str = "en", other: Run | None = None) -> bytes:
    """What the time-lapse shows of `run`, which the shelf has under `key` ("runs/reverse-3").

    other: a second run whose curves are laid beneath.
    """
    status = run.status()
    lines, moments = _read(key, run, _stamp(run))
    content = {
        "version": FORMAT_VERSION,
        "key": f"{key}@{run.created}",
        "name": run.name,
        "language": language,
        "strings": section("timelapse", language),
        "player": section("player", language),
        "steps": run.config.steps,
        "every": run.config.evaluate_every,
        "translates": bool(run.config.pairs),
        "samples": _samples(lines, "source", "reference"),
        "moments": moments,
        "other": _curves(other) if other is not None else None,
        "report": _report(report(run, status, lines, language), status),
        "log": log_tail(run),
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def thinned(moments: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """At most `MOST_MOMENTS` of them, the last one always; those kept stay as the run grows."""
    stride = 1
    while len(moments) > stride * MOST_MOMENTS:
        stride *= 2
    kept = list(moments[::stride])
    if moments and kept[-1] is not moments[-1]:
        kept.append(moments[-1])
    return kept


def log_tail(run: Run) -> list[str]:
    """The last lines the run's process wrote; a progress bar counts as its latest state."""
    try:
        with (run.folder / "log.txt").open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _LOG_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")]
    return [line for line in lines if line.strip()][-_LOG_LINES:]


def _stamp(run: Run) -> tuple[int, ...]:
    """Differs whenever the metrics or the list of pictures do."""
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
) -> tuple[tuple[Mapping[str, Any], ...], tuple[dict[str, Any], ...]]:
    """The last line of the metrics, if any, and the moments; once for all who watch."""
    lines, pictures = run.moments(), _pictures(run)
    moments = tuple(_moment(key, run, line, pictures) for line in thinned(lines))
    return tuple(lines[-1:]), moments


def _moment(key: str, run: Run, line: Mapping[str, Any], pictures: set[str]) -> dict[str, Any]:
    """One moment; a number that is missing or none leaves a gap in its curve."""
    step = int(line["step"])
    there = run.probe_path(step).name in pictures
    mark = quote(f"{run.created:.3f}-{_number(line.get('seconds'))}")
    return {
        "step": step,
        "loss": _number(line.get("loss")),
        "exact": _number(line.get("exact_match")),
        "gold": _table(line.get("gold")),
        "rate": _number(line.get("rate")),
        "norm": _number(line.get("gradient_norm")),
        "norms": _numbers(line.get("gradient_norms")),
        "speed": _number(line.get("tokens_per_second")),
        "memory": _number(line.get("memory")),
        "greedy": str(line.get("greedy", ""))[:_LONGEST_SAMPLE],
        "written": [sample["written"] for sample in _samples([line], "written")],
        **_scores(line),
        "picture": f"moments/{quote(key)}/{step}?{mark}" if there else None,
    }


def _curves(run: Run) -> dict[str, Any]:
    """The curves of a run that is only compared with: its best head stands for all."""
    points = []
    for line in thinned(run.moments()):
        gold = [weight for layer in _table(line.get("gold")) for weight in layer if weight]
        points.append(
            {
                "step": int(line["step"]),
                "loss": _number(line.get("loss")),
                "exact": _number(line.get("exact_match")),
                "gold": max(gold, default=None),
                **_scores(line),
            }
        )
    return {"name": run.name, "moments": points}


def _scores(line: Mapping[str, Any]) -> dict[str, float | None]:
    """The figures of a translator's moment; a toy task has none of them."""
    return {name: _number(line[name]) for name in _SCORES if name in line}


def _samples(lines: Sequence[Mapping[str, Any]], *parts: str) -> list[dict[str, str]]:
    """Parts of the translations in the last line; [] where there are none or they are damaged."""
    found = lines[-1].get("samples") if lines else None
    if not isinstance(found, list):
        return []
    return [
        {name: str(sample.get(name, ""))[:_LONGEST_SAMPLE] for name in parts}
        for sample in found
        if isinstance(sample, Mapping)
    ]


def _report(found: Report, status: Status) -> dict[str, Any]:
    return {
        "state": status.state,
        "going": found.going,
        "share": found.share,
        "words": found.words,
        "facts": found.facts,
        "problem": found.problem,
    }


def _pictures(run: Run) -> set[str]:
    try:
        return {path.name for path in (run.folder / "moments").iterdir()}
    except OSError:
        return set()


def _number(value: object) -> float | None:
    """A finite number of few digits, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")


def _numbers(value: object) -> dict[str, float | None]:
    if not isinstance(value, Mapping):
        return {}
    return {str(name): _number(number) for name, number in value.items()}


def _table(value: object) -> list[list[float | None]]:
    if not isinstance(value, list):
        return []
    return [[_number(number) for number in row] for row in value if isinstance(row, list)]
