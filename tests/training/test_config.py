import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from explorer.core.errors import ExplorerError
from explorer.training.config import TrainingConfig, quick_demo, refuse_unused

BASE = TrainingConfig()


@pytest.mark.parametrize(
    "change",
    [
        {"task": "invert"},
        {"heads": 3},
        {"longest": 0},
        {"steps": 1.5},
        {"rate": 0.0},
        {"rate": math.nan},
        {"rate": "fast"},
        {"label_smoothing": 1.0},
        {"schedule": "linear"},
        {"precision": "float8"},
        {"symbols": tuple(map(str, range(101)))},
        {"symbols": ("a", "a")},
        {"seed": -1},
        {"small_alphabets": 1.5},
        {"batch": 4, "accumulate": 5},
        {"batch": 4, "accumulate": 2, "processes": 3},
        {"processes": 0},
        {"causal": [1]},
        {"joint": 1},
    ],
)
def test_settings_that_cannot_work_are_refused(change):
    with pytest.raises(ExplorerError):
        replace(BASE, **change)


def test_json_gives_back_the_same_settings():
    config = replace(BASE, symbols=("甲", "乙"), causal=False, rate=0.5)
    assert TrainingConfig.from_json(json.loads(json.dumps(asdict(config)))) == config


def test_a_foreign_setting_is_named():
    with pytest.raises(ExplorerError, match="speed"):
        TrainingConfig.from_json({"speed": 9})


def test_an_older_run_has_no_small_alphabets():
    older = {name: value for name, value in asdict(BASE).items() if name != "small_alphabets"}
    assert BASE.small_alphabets > 0
    assert TrainingConfig.from_json(older) == replace(BASE, small_alphabets=0.0)


def test_an_older_run_has_one_process():
    older = {name: value for name, value in asdict(BASE).items() if name != "processes"}
    older["small_alphabets"] = 0.5
    assert TrainingConfig.from_json(older).processes == 1


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_quick_demo_stops_when_the_task_is_learnt(on_gpu):
    config = quick_demo("copy", on_gpu=on_gpu)
    assert config.task == "copy"
    assert 0 < config.until < 1  # 1 trains to the end
    assert config.device == ("cuda" if on_gpu else "cpu")


def test_the_repr_has_the_changed_settings_only():
    assert repr(TrainingConfig()) == "TrainingConfig(task='reverse')"
    assert repr(TrainingConfig(task="copy", steps=9)) == "TrainingConfig(task='copy', steps=9)"


@pytest.mark.parametrize("name", ["task", "pairs", "norm"])
def test_a_matrix_is_no_choice(name):
    with pytest.raises(ExplorerError):
        TrainingConfig(**{"task": "copy", name: np.ones((2, 2))})


def test_a_setting_without_effect_is_refused_unless_it_is_the_default():
    refuse_unused(asdict(BASE))  # as the command in a checkpoint has them
    refuse_unused({"pairs": "pairs.tsv", "task": "translate", "swapped": 0.5})
    for given in ({"swapped": 0.5}, {"pairs": "pairs.tsv", "task": BASE.task}):
        with pytest.raises(ExplorerError, match="applies to"):
            refuse_unused(given)
