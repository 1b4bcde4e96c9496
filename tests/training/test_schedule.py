from dataclasses import replace

import pytest

from explorer.training.config import TrainingConfig
from explorer.training.schedule import learning_rate

BASE = TrainingConfig()


def test_the_cosine_rises_to_the_rate_and_falls_to_zero():
    config = replace(BASE, warmup=100, steps=1000, rate=0.01)
    assert learning_rate(config, 0) == pytest.approx(0.01 / 100)
    assert learning_rate(config, 49) == pytest.approx(0.005, rel=0.01)
    assert learning_rate(config, 500) == pytest.approx(0.005)
    assert learning_rate(config, 999) == pytest.approx(0.0, abs=1e-6)


def test_the_inverse_square_root_is_the_papers_schedule():
    config = replace(BASE, d_model=512, warmup=4000, schedule="inverse-sqrt", steps=10**6)
    config = replace(config, rate=(512 * 4000) ** -0.5)
    for step in (1, 10, 4000, 100_000):
        paper = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(config, step - 1) == pytest.approx(paper)
