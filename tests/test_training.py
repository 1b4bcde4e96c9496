import math
from dataclasses import replace

import pytest
import torch

from explorer.errors import ExplorerError, TrainingError
from explorer.evaluation import evaluate
from explorer.training import Trainer, TrainingConfig, choose_device, learning_rate

TINY = TrainingConfig(
    task="copy",
    longest=3,
    symbols=("1", "2", "3", "4"),
    d_model=16,
    heads=2,
    encoder_layers=1,
    decoder_layers=1,
    d_ff=32,
    dropout=0.0,
    steps=400,
    batch=32,
    rate=5e-3,
    warmup=20,
    evaluate_every=50,
    device="cpu",
)


def test_a_tiny_model_learns_to_copy_and_looks_where_it_copies_from():
    trainer = Trainer(TINY)
    reports = list(trainer.run())
    assert [report.step for report in reports] == list(range(50, 401, 50))
    assert reports[-1].loss < 0.1 < reports[0].loss
    assert reports[-1].exact_match > 0.98
    evaluation = evaluate(trainer.model, trainer.task, 4, 3, each=50)
    assert evaluation.exact_match > 0.98


def test_equal_configs_give_equal_weights():
    config = replace(TINY, steps=5, dropout=0.3)
    one = Trainer(config)
    list(one.run())
    other = Trainer(config)
    list(other.run())
    for ours, theirs in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    third = Trainer(replace(config, seed=1))
    assert not torch.equal(third.model.logits.weight, Trainer(config).model.logits.weight)


def test_evaluating_more_often_changes_nothing_that_is_learnt():
    often, seldom = (Trainer(replace(TINY, steps=6, evaluate_every=n)) for n in (1, 6))
    list(often.run())
    list(seldom.run())
    assert torch.equal(often.model.logits.weight, seldom.model.logits.weight)


def test_training_stops_early_at_the_exact_match():
    trainer = Trainer(replace(TINY, until=0.3, evaluate_every=10))
    reports = list(trainer.run())
    assert reports[-1].exact_match >= 0.3
    assert trainer.step < TINY.steps
    assert all(report.exact_match < 0.3 for report in reports[:-1])
    assert trainer.checkpoint({}).facts["steps"] == trainer.step


def test_a_loss_that_is_no_number_stops_with_the_step():
    trainer = Trainer(TINY)
    with torch.no_grad():
        trainer.model.logits.bias.fill_(math.nan)
    with pytest.raises(TrainingError, match="step 50"):
        list(trainer.run())


def test_bfloat16_trains_too():
    reports = list(Trainer(replace(TINY, precision="bfloat16", steps=60)).run())
    assert reports[-1].loss < reports[0].loss


def test_label_smoothing_raises_the_loss_that_can_be_reached():
    plain, smooth = (Trainer(replace(TINY, label_smoothing=s, steps=50)) for s in (0.0, 0.5))
    assert list(smooth.run())[-1].loss > list(plain.run())[-1].loss


def test_the_gradient_is_clipped():
    """Adam divides by the gradient's size, so clipping shows in its running mean alone."""
    trainer = Trainer(replace(TINY, clip=1e-3, steps=1))
    list(trainer.run())
    means = [state["exp_avg"].norm() for state in trainer.optimizer.state.values()]
    total = torch.stack(means).norm().item()
    assert total == pytest.approx((1 - 0.9) * 1e-3, rel=0.01)


def test_the_cosine_rises_to_the_rate_and_falls_to_zero():
    config = replace(TINY, warmup=100, steps=1000, rate=0.01)
    assert learning_rate(config, 0) == pytest.approx(0.01 / 100)
    assert learning_rate(config, 49) == pytest.approx(0.005, rel=0.01)
    assert learning_rate(config, 500) == pytest.approx(0.005)
    assert learning_rate(config, 999) == pytest.approx(0.0, abs=1e-6)


def test_the_inverse_square_root_is_the_papers_schedule():
    config = replace(TINY, d_model=512, warmup=4000, schedule="inverse-sqrt", steps=10**6)
    config = replace(config, rate=(512 * 4000) ** -0.5)
    for step in (1, 10, 4000, 100_000):
        paper = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(config, step - 1) == pytest.approx(paper)


@pytest.mark.parametrize(
    "change",
    [
        {"task": "invert"},
        {"heads": 3},
        {"longest": 0},
        {"steps": 1.5},
        {"rate": 0.0},
        {"rate": math.nan},
        {"label_smoothing": 1.0},
        {"schedule": "linear"},
        {"precision": "float8"},
        {"symbols": tuple(map(str, range(101)))},
        {"symbols": ("a", "a")},
        {"seed": -1},
    ],
)
def test_settings_that_cannot_work_are_refused(change):
    with pytest.raises(ExplorerError):
        replace(TINY, **change)


def test_a_device_that_is_not_here_is_refused():
    assert choose_device("auto").type in ("cpu", "cuda")
    with pytest.raises(TrainingError, match="auto, cpu"):
        choose_device("abacus")
