"""The settings of a run as text."""

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.components.training_replay.run_settings import (
    RunSettings,
    differing_settings,
    run_settings,
)
from explorer.core.i18n import section
from explorer.jobs.training_run import create_run
from explorer.training.config import TrainingConfig, quick_demo, small_translation

DEMO = quick_demo("reverse", on_gpu=False)


@pytest.fixture
def shown(tmp_path: Path):
    """The settings of a run with this config."""

    def show(config: TrainingConfig, language: str = "en") -> RunSettings:
        run = create_run(tmp_path / f"own-{len(list(tmp_path.iterdir()))}", config)
        return run_settings(run, language)

    return show


def test_a_quick_demo_has_nothing_to_say(shown):
    for task in ("induction", "reverse", "sort"):
        for on_gpu in (True, False):
            demo = replace(quick_demo(task, on_gpu=on_gpu), seed=417)  # each demo has its own
            assert shown(demo) == RunSettings([], "")


def test_what_differs_from_the_quick_demo_is_named_the_mask_first(shown):
    config = replace(DEMO, rate=0.001, seed=7, causal=False, until=1.0)
    found = shown(config)
    words = "unlike “Quick demo”, the short training of the app: "
    words += "no causal mask · rate .001 · trains to the last step"
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
        "causal mask · seed 0 · rate .006",
        "no causal mask · seed 0 · rate .006",
        "causal mask · seed 3 · rate .001",
        "causal mask · seed 4 · rate .006",
    ]
    assert differing_settings([DEMO, DEMO], "en") == ["", ""]


def test_every_setting_with_an_effect_has_its_words(shown, tmp_path):
    words = section("run_settings", "en")
    assert {"rate", "causal_off", "causal_on", "joint_off"} <= words.keys()
    config = replace(
        TrainingConfig(pairs="x"),
        **{"encoder_layers": 1, "d_ff": 64, "norm": "post", "precision": "bfloat16", "average": 5},
        **{"patience": 3, "swapped": 0.5, "pieces": 500, "schedule": "inverse-sqrt", "clip": 0.5},
    )
    assert "LayerNorm post" in shown(config).demo
