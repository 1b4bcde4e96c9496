"""Files written by earlier versions still open; those that ship were written by several."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

import explorer
from explorer.app import model_cache
from explorer.app.filled_lesson import filled_in
from explorer.core import folders
from explorer.core.address_fields import declared
from explorer.core.errors import HeadReportError
from explorer.core.lesson import read_lesson
from explorer.core.look import (
    NO_INTERVENTIONS,
    Look,
    Reading,
    Request,
    Selection,
    from_query,
    moved,
    to_query,
)
from explorer.core.section_questions import QUESTIONS
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.core.verbs import VERBS
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.search.attention_index import STEPS, open_index
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
LATER = FROZEN / "6467bcc3"
"""What that commit wrote; beside it, what versions up to adde2c6 did."""


def links_in(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "permalinks.jsonl").read_text("utf-8").strip().split("\n")
    return [json.loads(line) for line in lines]


LINKS = {folder.name: links_in(folder) for folder in (FROZEN, LATER)}

SHIPPED_MODELS = shipped_models()

LIBRARY = {  # models of the library that links name; nothing is computed by these
    "opus-tiny": Request("opus-tiny", "The cat sat.", reading=Reading()),
    "bert-tiny": Request("bert-tiny", "The cat sat.", pair="", reading=Reading()),
}

INITIAL_REQUESTS = {  # an unknown model gives way to the first
    name: Request(name, "", 0) for name in ("copy", *SHIPPED_MODELS)
} | LIBRARY


def shown_models() -> list[tuple[str, str]]:
    """The folder of the links, and the model that they show."""
    return sorted({(name, link["shows"]["model"]) for name in LINKS for link in LINKS[name]})


@pytest.mark.parametrize(("folder", "model"), shown_models())
def test_a_link_shows_what_it_showed(folder, model):
    for link in LINKS[folder]:
        if link["shows"]["model"] != model:
            continue
        shown, refused = from_query(link["link"], INITIAL_REQUESTS)
        missing: list[str] = []
        if model not in LIBRARY:
            # The outputs of the first 500 links are those without interventions.
            plain = replace(shown.request, interventions=NO_INTERVENTIONS)
            request = plain if folder == FROZEN.name else shown.request
            trace = model_cache.trace(SHIPPED_MODELS[model], request)
            assert trace.text == link["output"], link["link"]
            selection, lacking = shown.selection.within(trace)
            selection, elsewhere = selection.at_cell(trace)
            shown = replace(shown, selection=selection)
            missing = [*lacking, *elsewhere]
        assert to_query(shown) == moved(link["shows"]), link["link"]
        gone = link["link"].keys() - moved(link["link"]).keys()  # what a former section was asked
        assert sorted(refused) == [name for name in link["refused"] if name not in gone]
        assert sorted(missing) == link["missing"]


def test_each_word_of_an_address_is_in_a_stored_link():
    """Links with a new one are stored in a new file."""
    assert [len(links) for links in LINKS.values()] == [500, 108]
    shown = [link["shows"] for links in LINKS.values() for link in links]
    for record in (Request, Reading, Look, Selection):
        for one in declared(record).values():
            values = {query[one.word] for query in shown if one.word in query}
            assert values, one.word
            assert values >= set(one.kind.choices), one.word
    assert {query["part"] for query in shown if "ask" in query} >= set(QUESTIONS)
    lines = [line for query in shown for line in query.get("do", "").split(";")]
    assert {line.split(" ")[0] for line in lines} >= set(VERBS)


def test_a_link_compares_with_each_kind_of_thing():
    compared = {link["shows"].get("with") for link in LINKS[LATER.name]}
    assert compared >= {"sort", "@changes", "recorded/reverse@50-1000", "runs/my-run@1-2"}
    texts = {link["shows"].get("other_text") for link in LINKS[LATER.name]}
    assert "7 3 9 1 5" in texts


FULL: dict[str, Any] = {"pad_to": 5, "capture": "full"}
TRACES: dict[str, dict[str, Any]] = {  # the options of each trace of "1 2 3"
    "pattern-1": {},
    "full-1": FULL,
    "pattern-2": {},
    "full-2": FULL | {"force": {1: 4}, "ablate": [("cross", 0, 1)]},
    "6467bcc3/pattern": {},
    "6467bcc3/full": FULL,
    "6467bcc3/changed": {
        "force": {1: 4},
        "ablate": [("encoder", 0, 1)],
        "keep": [("cross", 0, 0)],
        "edit_mask": [("decoder", 0, 0, 1, 0, False)],
        "override_row": [("cross", 0, 0, 1, (0.5, 0.5))],
        "without": ["scaling"],
        "draw": (0.8, 7, 3, 0.9),
    },
}


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_of_each_version_opens_as_it_was_captured(name):
    stored = Trace.load(FROZEN / f"{name}.trace")
    again = load(FROZEN / "toy.safetensors").trace("1 2 3", **TRACES[name])
    assert stored.integrity().ok.all()
    assert stored.source_tokens == again.source_tokens
    assert stored.predicted_tokens == again.predicted_tokens
    assert {name for name in stored.arrays if name.endswith(("attention", "closed"))} == {
        f"{site}.{kind}" for site in SITES for kind in ("attention", "closed")
    }
    for site in SITES:
        np.testing.assert_allclose(stored.attention(site), again.attention(site), atol=1e-5)
        for head in range(2):
            np.testing.assert_array_equal(
                stored.mask_reason(site, 0, head), again.mask_reason(site, 0, head)
            )
        if TRACES[name].get("capture") == "full":
            np.testing.assert_allclose(stored.scores(site), again.scores(site), atol=1e-5)


def test_a_stored_trace_tells_its_interventions():
    assert Trace.load(LATER / "changed.trace").facts["interventions"] == [
        "ablate encoder.0.1",
        "keep cross.0.0",
        "close decoder.0.0 1 0",
        "row cross.0.0 1 0.5,0.5",
        "omit scaling",
        "draw 0.8 7 k=3 p=0.9",
    ]
    assert "interventions" not in Trace.load(LATER / "full.trace").facts


def test_a_trace_of_a_decoder_alone_opens_as_it_was_captured():
    stored = Trace.load(LATER / "alone.trace")
    alone = load(LATER / "runs" / "alone" / "checkpoint.safetensors")
    again = alone.trace("1 2 3 1", max_new_tokens=3)
    assert stored.integrity().ok.all()
    assert (stored.sites, stored.source_tokens) == (("decoder",), ())
    assert stored.target_tokens == again.target_tokens
    assert stored.target_tokens[1:5] == ("1", "2", "3", "1")
    np.testing.assert_allclose(stored.attention("decoder"), again.attention("decoder"), atol=1e-5)


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


@pytest.mark.parametrize("name", ["heads-1", "heads-2"])
def test_a_head_report_of_an_older_version_says_so(name):
    with pytest.raises(HeadReportError) as caught:
        HeadReport.load(FROZEN / f"{name}.json")
    assert caught.value.key == "old_head_report"


CONFIDENCE = {  # of the heads in each report
    "heads-3": [0.3337899, 0.3693563, 0.6902412, 0.8246258, 0.414334, 0.3478814],
    "6467bcc3/heads": [0.3337899, 0.3693563, 0.6902412, 0.8246258, 0.414334, 0.3478814],
    "6467bcc3/heads-pairs": [0.2594526, 0.2731872, 0.396439, 0.3834871, 0.2170453, 0.1715335],
    "6467bcc3/heads-metric": [0.6928573, 0.6884796],
}


@pytest.mark.parametrize("name", CONFIDENCE)
def test_a_stored_head_report_opens_with_its_values(name):
    report = HeadReport.load(FROZEN / f"{name}.json")
    assert report.heads.confidence.tolist() == CONFIDENCE[name]
    assert (report.heads.confidence_low < report.heads.confidence).all()
    assert (report.heads.confidence < report.heads.confidence_high).all()
    assert HeadReport.from_json(report.to_json()).to_json() == report.to_json()


def test_a_stored_head_report_has_what_each_head_does_when_it_is_removed():
    toy, pairs, alone = (
        HeadReport.load(LATER / f"{name}.json") for name in ("heads", "heads-pairs", "heads-metric")
    )
    effects = {f"{how}_{what}" for how in ("zero", "mean", "only") for what in ("loss", "exact")}
    for report in (toy, pairs):
        assert {"importance", *effects} <= set(report.metrics)
        gone = [f"{one}{end}" for one in effects for end in ("_p", "_bound", "_most")]
        assert not {*gone, "zero_bleu", "zero_bleu_low"} & set(report.heads)
    assert toy.heads.zero_loss[0] == pytest.approx(0.1241355)
    assert toy.facts["ablation"]["sentences"] == 8
    assert toy.facts["ablation"]["together"]["cross"]["loss"] == pytest.approx(
        [2.0605, 2.3709], abs=1e-4
    )
    assert alone.facts["metric"]["name"] == "logit '1' - logit '2'"
    assert alone.heads.zero_metric.tolist() == pytest.approx([-0.3239406, 0.5974629])


def test_a_stored_head_report_has_its_gold_metrics():
    toy, pairs = (HeadReport.load(LATER / f"{name}.json") for name in ("heads", "heads-pairs"))
    assert pairs.facts["linked"] == {"batch": "six.tsv", "sentences": 6}
    for report in (toy, pairs):
        cross = report.heads[report.heads.site == "cross"]
        assert cross.gold_weight.between(0, 1, inclusive="neither").all()
        assert cross.gold_accuracy.between(0, 1).all()
        assert report.heads[report.heads.site != "cross"].gold_weight.isna().all()


def test_a_stored_head_report_has_its_roles():
    report = HeadReport.load(LATER / "heads.json")
    assert len(report.roles) == 6 * len(report.role_rows("cross", 0, 0))
    assert report.confounded("cross", "copy") == ("alignment",)


def test_a_stored_head_report_has_its_offsets():
    offsets = HeadReport.load(LATER / "heads.json").offsets
    own = offsets[(offsets.site == "decoder") & (offsets["head"] == 0) & (offsets.offset == -1)]
    assert own.share.tolist() == pytest.approx([0.6363636])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "pruning") for name in ("pruning-1", "pruning-2", "6467bcc3/pruning")),
        *((name, "alignment") for name in ("alignment", "6467bcc3/alignment")),
    ],
)
def test_a_report_of_a_kind_that_is_gone_is_refused_by_its_name(name, kind):
    with pytest.raises(HeadReportError) as caught:
        HeadReport.load(FROZEN / f"{name}.json")
    assert caught.value.key == f"removed_report_{kind}"


def test_an_index_is_searched():
    index = open_index(LATER / "toy.index")
    found = index.search("cross.0.1", tokens=(None, "2"))
    assert found.sentence.tolist() == [3, 0, 2]
    assert found.source.tolist() == ["2", "1 2 3", "4 4 2"]
    assert (found.weight * STEPS).round().tolist() == [141, 92, 76]
    assert found.link[1] == (
        "?model=toy&text=1+2+3&pad=0&site=cross&layer=0&head=1&step=5&cell=4.1"
    )
    cells = Trace.load(FROZEN / "pattern-2.trace").attention("cross")[0, 1]
    assert found.weight[1] == pytest.approx(cells[4, 1], abs=1 / STEPS)
    assert set(index.search("decoder.0.0", offset=-1).query_token) == {"3"}


def test_an_index_is_of_its_model_and_texts(tmp_path):
    texts = ["1 2 3", "3 1", "4 4 2", "2"]
    path = Path(shutil.copy(LATER / "toy.index", tmp_path))
    before = path.read_bytes()
    again = explorer.load(FROZEN / "toy.safetensors").index(texts, path)
    assert again.facts["sources"] == texts
    assert path.read_bytes() == before


def test_a_search_in_an_index_of_pairs_links_to_its_cells():
    model = load(FROZEN / "pairs-half.safetensors")
    found = open_index(LATER / "pairs.index").search("cross.0.1", part="end", top=2)
    assert found.target.tolist() == [
        "J'entends un chien aujourd'hui.",
        "Ils veulent de l'eau maintenant.",
    ]
    for row in found.itertuples():
        query = dict(parse_qsl(row.link.removeprefix("?")))
        look, refused = from_query(query, {model.name: Request(model.name, "")})
        assert not refused
        trace = model.trace(look.request.text, force=dict(look.request.forced))
        assert trace.text == row.target
        cell = trace.attention("cross")[(0, 1, *look.selection.cell)]
        assert cell == pytest.approx(row.weight, abs=1 / STEPS)


RUN_FOLDERS = [
    *("runs/stopped", "runs/done", "runs/early"),
    *("6467bcc3/runs/stopped", "6467bcc3/runs/done", "6467bcc3/runs/alone"),
]


@pytest.mark.parametrize("name", RUN_FOLDERS)
def test_a_run_goes_on_as_if_it_had_never_been_stopped(name, tmp_path):
    stored = FROZEN / name
    run = Run(Path(shutil.copytree(stored, tmp_path / "runs" / stored.name)))
    stopped = stored.name == "stopped"
    assert run.status().state == ("stopped" if stopped else "done")
    assert all(run.probe(moment["step"]).integrity().ok.all() for moment in run.moments())
    assert run_training(run).state == "done"
    losses = {moment["step"]: moment["loss"] for moment in run.moments()}
    if stopped:
        whole = json.loads((stored.parent / "losses.json").read_text("utf-8"))
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
