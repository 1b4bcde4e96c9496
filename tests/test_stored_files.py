"""Files written by earlier versions still open; those that ship were written by several."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from explorer.app.filled_lesson import filled_in
from explorer.core import folders
from explorer.core.errors import HeadReportError, PruningError
from explorer.core.lesson import read_lesson
from explorer.core.look import MOVED_SECTIONS, Request, from_query, to_query
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.heads.alignment.aer_report import AlignmentReport
from explorer.heads.pruning.pruning_report import PruningReport
from explorer.heads.reports.head_report import HeadReport
from explorer.jobs.training_run import Run
from explorer.jobs.training_worker import run_training
from explorer.model.catalog import shipped_models
from explorer.model.explorable import load

SHIPPED = folders.shipped_checkpoints()


def sites_of(trace: Trace) -> tuple[str, ...]:
    """All of them, or those of a decoder alone."""
    return ("decoder",) if "prompt" in trace.facts else SITES


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.safetensors")), ids=lambda path: path.stem)
def test_a_checkpoint_opens_and_traces(path):
    model = load(path)
    text = "7 3 9 1 4" if model.facts["task"] != "translate" else model.facts["examples"][0]
    trace = model.trace(text)
    assert trace.sites == sites_of(trace)
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
        assert trace.sites == sites_of(trace)
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


FROZEN = Path(__file__).parent / "frozen"
LINKS = list(map(json.loads, (FROZEN / "permalinks.jsonl").read_text("utf-8").strip().split("\n")))
SHIPPED_MODELS = {path.stem: path for path in sorted(SHIPPED.glob("*.safetensors"))}


@pytest.fixture(scope="module")
def linked_trace() -> Callable[[Request], Trace]:
    """The trace of what a link asks for, each once."""
    model = cache(lambda name: load(SHIPPED_MODELS[name]))

    @cache
    def trace(request: Request) -> Trace:
        own = model(request.model)
        padded = len(own.source_ids(request.text)) + request.pad if request.pad else None
        return own.trace(request.text, pad_to=padded, force=dict(request.forced))

    return trace


@pytest.mark.parametrize("model", sorted({link["shows"]["model"] for link in LINKS}))
def test_a_link_shows_what_it_showed(model, linked_trace):
    own = [link for link in LINKS if link["shows"]["model"] == model]
    assert len(own) > 20
    initial_requests = {name: Request(name, "", 0) for name in ("copy", *SHIPPED_MODELS)}
    for link in own:
        found, refused = from_query(link["link"], initial_requests)
        trace = linked_trace(found.request)
        selection, missing = found.selection.within(trace)
        selection, elsewhere = selection.at_cell(trace)
        shown = replace(found, selection=selection)
        instead = MOVED_SECTIONS.get(link["shows"].get("part", ""), {})
        assert to_query(shown) == link["shows"] | instead, link["link"]
        assert trace.text == link["output"]
        assert sorted(refused) == link["refused"]
        assert sorted((*missing, *elsewhere)) == link["missing"]


@pytest.mark.parametrize("name", ["pattern-1", "pattern-2", "full-1", "full-2"])
def test_a_trace_of_each_version_opens_as_it_was_captured(name):
    stored = Trace.load(FROZEN / f"{name}.trace")
    options = {"pad_to": 5, "capture": "full"} if name.startswith("full") else {}
    if name == "full-2":
        options |= {"force": {1: 4}, "ablate": [("cross", 0, 1)]}
    again = load(FROZEN / "toy.safetensors").trace("1 2 3", **options)
    assert stored.integrity().ok.all()
    assert stored.source_tokens == again.source_tokens
    assert stored.predicted_tokens == again.predicted_tokens
    assert {name for name in stored.arrays if name.endswith(("attention", "closed"))} == {
        f"{site}.{kind}" for site in SITES for kind in ("attention", "closed")
    }
    for site in SITES:
        np.testing.assert_allclose(stored.attention(site), again.attention(site), atol=1e-5)
        np.testing.assert_array_equal(stored.mask_reason(site), again.mask_reason(site))
        if name.startswith("full"):
            np.testing.assert_allclose(stored.scores(site), again.scores(site), atol=1e-5)


def test_checkpoints_of_each_kind_open():
    toy, half, pairs = (
        load(FROZEN / f"{name}.safetensors") for name in ("toy", "toy-half", "pairs-half")
    )
    assert (toy.facts["task"], pairs.facts["task"]) == ("copy", "translate")
    stored = Trace.load(FROZEN / "pattern-2.trace")
    for model in (toy, half):
        found = model.trace("1 2 3").attention("cross")
        np.testing.assert_allclose(found, stored.attention("cross"), atol=2e-3)
    assert pairs.trace("The cat sees a dog.").integrity().ok.all()


def test_a_report_opens_or_says_that_it_is_of_an_older_version():
    report = HeadReport.load(FROZEN / "heads-3.json")
    assert len(report.heads) == 6
    assert report.facts["model"] == "toy"
    for old in ("heads-1", "heads-2"):
        with pytest.raises(HeadReportError) as caught:
            HeadReport.load(FROZEN / f"{old}.json")
        assert caught.value.key == "old_head_report"
    assert [curve.order for curve in PruningReport.load(FROZEN / "pruning-2.json").curves]
    with pytest.raises(PruningError):
        PruningReport.load(FROZEN / "pruning-1.json")
    assert AlignmentReport.load(FROZEN / "alignment.json").table().shape[0]


@pytest.mark.parametrize("name", ["stopped", "done", "early"])
def test_a_run_goes_on_as_if_it_had_never_been_stopped(name, tmp_path):
    folder = tmp_path / "runs" / name
    shutil.copytree(FROZEN / "runs" / name, folder)
    run = Run(folder)
    assert (run.status().state == "done") == (name != "stopped")
    assert all(run.probe(moment["step"]).integrity().ok.all() for moment in run.moments())
    assert run_training(run).state == "done"
    losses = {moment["step"]: moment["loss"] for moment in run.moments()}
    if name == "stopped":
        whole = json.loads((FROZEN / "runs" / "losses.json").read_text("utf-8"))
        assert losses == pytest.approx({int(step): loss for step, loss in whole.items()}, rel=1e-4)
    assert max(losses) == run.config.steps == load(run.checkpoint_path).facts["steps"]


def test_a_lesson_by_a_teacher_is_read_and_filled_in():
    found = {
        language: read_lesson((FROZEN / f"mirror.{language}.md").read_text("utf-8"))
        for language in ("en", "zh")
    }
    assert (found["en"].title, found["zh"].title) == ("The mirror", "镜子")
    first, second = (filled_in(card, shipped_models(), "en") for card in found["en"].cards)
    assert not first.problem
    assert first.choices[first.right] == "1"  # the mirrored place of the second step
    assert second.choices[second.right] == "padding"
    assert second.because == "it is padding: 4 keys of the row are left."
    assert filled_in(found["zh"].cards[0], shipped_models(), "zh").right == first.right
