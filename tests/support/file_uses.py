"""Everything that pages, downloads and the command line make of a file; see `test_odd_files`."""

import io
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from explorer.app.widgets import head_tables
from explorer.cli import runs as runs_command
from explorer.components.head_views.payload import head_grid_payload, metric_matrix_payload
from explorer.components.labels import describe
from explorer.components.player.payload import player_payload
from explorer.components.training_replay.payload import replay_payload
from explorer.components.training_replay.status_text import run_report
from explorer.core.errors import ExplorerError
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.heads.reports.head_report import HeadReport
from explorer.jobs.log import log_tail
from explorer.jobs.queue import in_order
from explorer.jobs.status import Status
from explorer.jobs.training_run import create_run, list_runs
from explorer.model.catalog import shipped_models
from tests.support.small_trace import small_trace
from tests.support.tiny_configs import TINY

LINE: dict[str, Any] = {
    "step": 5, "loss": 1.0, "exact_match": 0.5, "seconds": 1.0, "rate": 0.1,
    "gradient_norm": 1.0, "gradient_norms": {"a": 1.0}, "tokens_per_second": 9.0, "memory": 3.0,
    "gold": [[0.5, 0.5]], "greedy": "1 2",
    "samples": [{"source": "a", "reference": "b", "written": "c"}],
}  # fmt: skip


def answers(read: Callable[[], Any]) -> Any:
    """What `read` returns; None where it raises an `ExplorerError`."""
    try:
        return read()
    except ExplorerError as error:
        error.in_language("zh")
        str(error).encode()
        return None


def whole_catalog() -> dict[str, Any]:
    """The catalog with everything that a page shows of a model."""
    models = shipped_models()
    for model in models.values():
        for language in ("en", "zh"):
            json.dumps([describe(model, language), model.examples]).encode()
        asdict(model.summary)
        "".join(model.summary.symbols).encode()
    return models


def use_trace(trace: Trace) -> None:
    """Everything a page and a download make of a trace."""
    player_payload(trace)
    trace.to_bytes()
    trace.integrity()
    json.dumps(dict(trace.facts), allow_nan=False, ensure_ascii=False).encode()


def two_runs(root: Path) -> Path:
    """A folder with a run called "good" and one called "odd"."""
    for name in ("good", "odd"):
        run = create_run(root / name, TINY)
        run.write_status(Status("stopped", 5, 1.0, 1))
        run.append(LINE)
        run.write_data_facts({"pairs": {"kept": 3, "overlong": 1}})
        (run.folder / "moments").mkdir()
        run.probe_path(5).write_bytes(small_trace().to_bytes())
        (run.folder / "log.txt").write_text("line")
    return root


def use_runs(root: Path) -> list[str]:
    """The names of the runs, after everything that a page and the command line show of them."""
    listed = list_runs(root)
    in_order(listed)
    for run in listed:
        for language in ("en", "zh"):
            replay_payload(f"runs/{run.name}", run, language=language, others=listed[:1])
            run_report(run, run.status(), run.moments(), language)
        assert run.status().state
        assert isinstance(run.resumable, bool)
        with redirect_stdout(io.StringIO()):
            runs_command._show(run)
        log_tail(run.log_path, 12)
        for moment in run.moments():
            answers(lambda run=run, moment=moment: run.probe(moment["step"]))
    return [run.name for run in listed]


def use_report(report: HeadReport) -> None:
    """Everything a page and a download make of a report."""
    report.to_json().encode()
    report.to_csv().encode()
    head_grid_payload(small_trace(), report)
    metric_matrix_payload(report, "lines", language="zh")
    for language in ("en", "zh"):
        report.summary(language)
        head_tables.batch_text(report, language)
        head_tables.redundancy(report, language)
        head_tables.unchanged_text(report, language)
        for table in (head_tables.metrics, head_tables.effects):
            table(report, language)
        for site in SITES:
            head_tables.heads_by_role(report, site, language)
            head_tables.confounds(report, site, language)
            head_tables.evidence(report, site, 0, 0, language)
            head_tables.impossible(report, site, 0, 0, language)
            report.confounded(site, "copy")
