"""Files written by earlier versions still open; those that ship were written by several."""

import json

import pytest

from explorer.core import folders
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.heads.head_report import HeadReport
from explorer.model.explorable import load
from explorer.training.run_directory import Run

SHIPPED = folders.shipped_checkpoints()


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.safetensors")), ids=lambda path: path.stem)
def test_a_checkpoint_opens_and_traces(path):
    model = load(path)
    text = "7 3 9 1 4" if model.facts["task"] != "translate" else model.facts["examples"][0]
    trace = model.trace(text)
    assert trace.sites == SITES
    assert trace.integrity().ok.all()


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("heads/*.json")), ids=lambda path: path.stem)
def test_a_head_report_opens(path):
    assert len(HeadReport.load(path).heads)


RUNS = sorted(path.parent for path in SHIPPED.glob("recorded/*/config.json"))


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_run_opens_with_its_config_metrics_and_traces(folder):
    run = Run(folder)
    settings = json.loads((folder / "config.json").read_text("utf-8"))["settings"]
    assert run.config.steps == settings["steps"]
    assert run.status().state == "done"
    for moment in run.moments():
        trace = run.probe(moment["step"])
        assert trace.sites == SITES
        assert trace.integrity().ok.all()


VERSION_1 = {  # what a `.trace` file has had since its first version
    "arrays": {"attention", "closed"},
    "header": {"source_tokens", "target_tokens", "predicted_tokens", "text", "candidate_tokens"},
}


def test_a_trace_file_keeps_the_names_of_version_1():
    path = next(RUNS[0].glob("moments/*.trace"))
    trace = Trace.load(path)
    for site in trace.sites:
        assert {f"{site}.{kind}" for kind in VERSION_1["arrays"]} <= set(trace.arrays)
    assert all(hasattr(trace, name) for name in VERSION_1["header"])
    again = Trace.from_bytes(trace.to_bytes())
    assert set(again.arrays) == set(trace.arrays)
    assert again.digest == trace.digest
