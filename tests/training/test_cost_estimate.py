import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.data.parallel_corpus import Pair
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run, finished_runs
from explorer.model.transformer import Transformer
from explorer.training.config import TrainingConfig, quick_demo, small_translation
from explorer.training.cost_estimate import (
    Estimate,
    PairsSize,
    estimate,
    pairs_size,
)

DEMO = quick_demo("reverse", on_gpu=False)


def finished(folder, config: TrainingConfig, seconds: float, state: str = "done") -> Run:
    """A run that took `seconds`."""
    run = create_run(folder, config)
    run.append({"step": config.steps, "seconds": seconds})
    run.write_status(Status(state, config.steps, time.time()))
    return run


def estimated(config: TrainingConfig, folder: Path, size: PairsSize | None = None) -> Estimate:
    """The cost after the runs in a folder."""
    return estimate(config, finished_runs(folder), size)


def test_parameters_are_counted_without_building_the_model():
    model = Transformer(DEMO.model_config())
    assert DEMO.model_config().parameters == sum(weight.numel() for weight in model.parameters())


def test_without_a_similar_run_the_time_is_called_rough(tmp_path):
    found = estimated(DEMO, tmp_path)
    assert not found.measured
    assert 5 < found.seconds < 120
    assert 300 < found.memory < 2000


def test_the_time_is_that_of_the_newest_similar_finished_run(tmp_path):
    finished(tmp_path / "one", DEMO, 30.0)
    assert estimated(DEMO, tmp_path).seconds == pytest.approx(30.0)
    assert estimated(replace(DEMO, steps=2 * DEMO.steps), tmp_path).seconds == pytest.approx(60.0)
    assert estimated(DEMO, tmp_path).measured


@pytest.mark.parametrize(
    "other",
    [{"d_model": 256, "d_ff": 1024}, {"batch": 256}, {"device": "cuda"}, {"longest": 64}],
)
def test_a_dissimilar_run_is_not_used(tmp_path, other):
    finished(tmp_path / "other", replace(DEMO, **other), 1.0)
    assert not estimated(DEMO, tmp_path).measured


def test_unfinished_and_damaged_runs_are_not_used(tmp_path):
    finished(tmp_path / "stopped", DEMO, 1.0, state="stopped")
    damaged = finished(tmp_path / "damaged", DEMO, 1.0)
    (damaged.folder / "metrics.jsonl").write_text(json.dumps({"step": 900}) + "\n{")
    assert not estimated(DEMO, tmp_path).measured


def test_more_steps_cost_more_and_a_gpu_less(tmp_path):
    slow = estimated(replace(DEMO, d_model=512, d_ff=2048, batch=256), tmp_path)
    assert slow.seconds > 20 * estimated(DEMO, tmp_path).seconds
    assert slow.memory > estimated(DEMO, tmp_path).memory
    gpu = estimated(replace(DEMO, d_model=512, d_ff=2048, batch=256, device="cuda"), tmp_path)
    assert gpu.seconds < slow.seconds / 20


PAIRS = TrainingConfig(pairs="x.tsv", longest=128, pieces=8000, d_model=256, heads=8, device="cpu")


def test_logits_need_most_of_the_memory_with_thousands_of_pieces(tmp_path):
    few, many = (
        estimated(replace(PAIRS, pieces=pieces, batch=128), tmp_path).memory
        for pieces in (8000, 32_000)
    )
    logits = 128 * 130 * (32_000 - 8000) * 4 / 2**20
    assert many - few > 3 * logits
    assert 3000 < few < 9000  # 4407 MB were measured with three layers a side


def test_only_runs_on_pairs_are_used_for_a_run_on_pairs(tmp_path):
    small = small_translation("x.tsv", ("1", "2"), on_gpu=False)
    assert 60 < estimated(small, tmp_path).seconds < 900
    finished(tmp_path / "toy", replace(small, pairs="", task="copy", columns=("1", "2")), 1.0)
    assert not estimated(small, tmp_path).measured
    finished(tmp_path / "own", small, 100.0)
    assert estimated(replace(small, steps=3000), tmp_path).seconds == pytest.approx(200.0)


def test_the_time_of_a_training_on_pairs_depends_on_the_file(tmp_path):
    small = small_translation("x.tsv", ("1", "2"), on_gpu=False)
    short, long = (
        pairs_size([Pair(f"{text}.", f"{text}.")] * 1000) for text in ("a cat", "a cat " * 12)
    )
    one, other = (estimated(small, tmp_path, size) for size in (short, long))
    assert other.seconds > 3 * one.seconds
    many = replace(short, pairs=200_000)
    assert estimated(small, tmp_path, many).seconds > one.seconds + 15
    assert one.epochs == pytest.approx(1500 * 32 / 900)
    by_tokens = replace(small, batch_tokens=1000)
    rows = 950 / (2 * short.pieces + 3)
    assert estimated(by_tokens, tmp_path, short).epochs == pytest.approx(1500 * rows / 900)


def test_a_measured_time_is_converted_to_the_length_of_the_texts(tmp_path):
    small = small_translation("x.tsv", ("1", "2"), on_gpu=False)
    run = finished(tmp_path / "own", small, 100.0)
    run.write_data_facts({"pairs": {"pieces": 6.0}})
    size = PairsSize(1000, 13.5)  # 2 · 13.5 + 3 = 2 · (2 · 6 + 3)
    assert estimated(small, tmp_path, size).seconds == pytest.approx(200.0, abs=0.2)


def test_a_text_without_spaces_has_more_pieces_than_its_characters_tell():
    chinese = pairs_size([Pair("我今天想喝水", "我今天想喝水")])
    assert 3 < chinese.pieces < 6
    assert pairs_size([Pair("a dog", "un chien")]).pieces < 3
