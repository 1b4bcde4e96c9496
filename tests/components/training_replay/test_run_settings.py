"""The settings of a run as text."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.components.training_replay.run_settings import (
    RunSettings,
    differing_settings,
    run_settings,
)
from explorer.core.i18n import section
from explorer.training.config import TrainingConfig, quick_demo, small_translation
from explorer.training.run_directory import Status, create_run

DEMO = quick_demo("reverse", on_gpu=False)
DONE = Status("done", 900, time.time())
LEAKED = {"step": 900, "loss": 5.2e-5, "exact_match": 0.0}


@pytest.fixture
def shown(tmp_path: Path):
    """The settings of a run with this config."""

    def show(config: TrainingConfig, **options) -> RunSettings:
        run = create_run(tmp_path / f"own-{len(list(tmp_path.iterdir()))}", config)
        options = {"status": DONE, "moments": [LEAKED], "language": "en"} | options
        return run_settings(run, **options)

    return show


def test_a_quick_demo_has_nothing_to_say(shown):
    for task in ("reverse", "sort"):
        for on_gpu in (True, False):
            demo = replace(quick_demo(task, on_gpu=on_gpu), seed=417)  # each demo has its own
            assert shown(demo) == RunSettings([], "", "")


def test_what_differs_from_the_quick_demo_is_named_the_mask_first(shown):
    config = replace(DEMO, rate=0.001, seed=7, causal=False, until=1.0)
    found = shown(config)
    words = "unlike the quick demo: no causal mask · rate .001 · trains to the last step"
    assert found.demo == words
    assert found.badges == ["no causal mask"]
    assert shown(config, language="zh").badges == ["无因果掩码"]


def test_a_translation_is_compared_with_the_suggested_settings(shown):
    config = small_translation("pairs.tsv", ("1", "2"), on_gpu=False)
    assert shown(config).demo == ""
    changed = shown(replace(config, joint=False, batch=64)).demo
    assert changed == "unlike the suggested settings: two vocabularies · batch 64"


def test_runs_are_told_apart_by_the_settings_that_differ():
    configs = [DEMO, replace(DEMO, causal=False), replace(DEMO, seed=3, rate=0.001)]
    configs.append(replace(DEMO, seed=4))
    assert differing_settings(configs, "en") == [
        "causal mask · seed 0 · rate .003",
        "no causal mask · seed 0 · rate .003",
        "causal mask · seed 3 · rate .001",
        "causal mask · seed 4 · rate .003",
    ]
    assert differing_settings([DEMO, DEMO], "en") == ["", ""]


def test_a_run_without_a_causal_mask_explains_its_loss_and_its_score(shown):
    leaky = replace(DEMO, causal=False)
    text = shown(leaky).explanation
    assert "loss of 5.2e-05" in text
    assert "gets 0 % right" in text
    assert "没有因果掩码" in shown(leaky, language="zh").explanation
    assert shown(leaky, status=Status("running", 5, time.time())).explanation == ""
    assert shown(leaky, moments=[]).explanation == ""
    assert shown(DEMO).explanation == ""
    pairs = replace(small_translation("x", ("1", "2"), on_gpu=False), causal=False)
    moment = {"step": 9, "loss": 0.001, "bleu": 0.4}
    assert "gets BLEU 0.4" in shown(pairs, moments=[moment]).explanation


@pytest.mark.parametrize("value", [None, "5", [1]])
def test_odd_metrics_explain_nothing(shown, value):
    leaky = replace(DEMO, causal=False)
    assert shown(leaky, moments=[{"step": 5, "loss": value}]).explanation == ""
    assert shown(leaky, moments=[{"step": 5, "loss": 0.1, "exact_match": value}]).explanation == ""


def test_every_setting_with_an_effect_has_its_words(shown, tmp_path):
    words = section("run_settings", "en")
    assert {"rate", "causal_off", "causal_on", "joint_off"} <= words.keys()
    config = replace(
        TrainingConfig(pairs="x"),
        **{"encoder_layers": 1, "d_ff": 64, "norm": "post", "precision": "bfloat16", "average": 5},
        **{"patience": 3, "swapped": 0.5, "pieces": 500, "schedule": "inverse-sqrt", "clip": 0.5},
    )
    assert "LayerNorm post" in shown(config).demo
