"""What the heads of the shipped models do, and what happens without them."""

from pathlib import Path

import numpy as np
import pytest

from explorer.core.interventions import Interventions
from explorer.data.task_names import task_of
from explorer.heads.ablation import ablation, effect, remove_sites
from explorer.heads.counterfactuals import compare_traces, mean_outputs
from explorer.heads.evaluation_batches import task_sentences
from explorer.heads.head_report import HeadReport
from explorer.heads.measure import digest, measure
from explorer.model.attention_paths import all_heads
from explorer.model.explorable import load

FOLDER = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture(scope="module")
def model():
    return load(FOLDER / "reverse.safetensors")


@pytest.fixture(scope="module")
def sentences(model):
    return task_sentences(model, 64)


def exact(model, sentences, *lines: str) -> float:
    """The share of outputs that stay right."""
    return effect(model, sentences, Interventions.parse(lines)).after["exact"]


def test_the_reverse_heads_are_found(model):
    report = measure(model, task_sentences(model, 128))
    for layer in range(2):
        for head in range(4):
            assert report.roles_of("cross", layer, head) == ("reverse", "alignment")
    roles = report.roles.query("site == 'cross' and role == 'reverse'")
    assert (roles.score > 0.97).all()
    assert (roles.low > roles.threshold).all()
    assert (roles.sentences == 128).all()
    assert report.confounded("cross", "reverse") == ("alignment",)
    assert report.roles_of("encoder", 1, 1) == ("next",)
    assert report.roles_of("decoder", 0, 0) == ()
    best = report.heads.set_index(["site", "layer", "head"]).gold_weight["cross", 1, 2]
    assert best == pytest.approx(0.96, abs=0.02)


def test_no_head_is_missed_alone_and_none_is_enough_alone(model, sentences):
    """Eight heads do the same: attention to the answer says nothing of how much is lost."""
    table = ablation(model, sentences, mean_outputs(model, sentences)).query("site == 'cross'")
    assert (table.zero_exact.abs() < 0.05).all()
    assert (table.mean_exact.abs() < 0.05).all()
    assert (table.only_exact < -0.7).all()


def test_what_ships_says_what_is_left_without_all_heads_of_a_site(model, sentences):
    shipped = HeadReport.load(FOLDER / "heads" / "reverse.json").facts["ablation"]
    found = remove_sites(model, task_sentences(model, 256).first(shipped["sentences"]))
    for site, rows in found.items():
        for name, ends in rows.items():
            assert shipped["together"][site][name] == pytest.approx(ends, abs=2e-2)
    assert found["cross"]["exact"][1] == 0
    assert found["decoder"]["exact"][1] > 0.4  # the decoder's own heads are no more than useful


def test_removing_what_matters_breaks_the_output(model, sentences):
    """All eight: nothing is right. One layer's four: the other layer does their work in part."""
    lines = [f"ablate cross.{layer}.{head}" for layer in range(2) for head in range(4)]
    assert exact(model, sentences) > 0.95
    assert exact(model, sentences, *lines) < 0.05  # 0.00
    assert 0.35 < exact(model, sentences, *lines[:4]) < 0.75  # 0.53
    assert 0.6 < exact(model, sentences, *lines[4:]) < 0.95  # 0.79


def test_keeping_one_reverse_head_a_layer_keeps_most_and_the_best_alone_does_not(model, sentences):
    assert exact(model, sentences, "keep cross.0.2", "keep cross.1.1") > 0.6  # 0.75
    assert exact(model, sentences, "keep cross.1.2") < 0.25  # 0.07


def test_one_text_with_and_without(model):
    text = "7 3 9 1 4 a b c"
    original = model.trace(text)
    changed = model.trace(text, keep=[("cross", 1, 1)])
    result = compare_traces(model, original, changed)
    assert original.text == "c b a 4 1 9 3 7"
    assert not result.same_text
    assert result.log_probability < -1
    assert changed.integrity().ok.all()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_what_ships_beside_a_model_was_measured_on_it(path):
    report = HeadReport.load(FOLDER / "heads" / f"{path.stem}.json")
    shipped = load(path)
    assert report.facts["digest"] == digest(shipped.transformer)
    assert {"importance", "zero_loss", "mean_exact", "only_exact"} <= set(report.metrics)
    if task_of(shipped.facts) is None:  # its sentences do not ship: all heads are there
        assert len(report.heads) == len(all_heads(shipped.transformer.config))
        assert report.heads["confidence"].between(0, 1).all()
        return
    again = measure(shipped, task_sentences(shipped, report.facts["sentences"]))
    own = again.heads.select_dtypes("number")
    np.testing.assert_allclose(report.heads[own.columns], own, atol=2e-3)


def test_on_copy_the_roles_say_that_aligned_is_position_0():
    report = HeadReport.load(FOLDER / "heads" / "copy.json")
    assert report.roles_of("cross", 0, 0) == ("copy", "alignment")
    assert report.confounded("cross", "alignment") == ("copy",)
    assert report.roles_of("encoder", 0, 0) == ("diffuse",)
    assert report.roles_of("encoder", 1, 2) == ("previous",)
