import math
from dataclasses import replace

import pytest
import torch

from explorer.core.errors import TrainingError
from explorer.data.toy_data import find_task
from explorer.training import distributed
from explorer.training.schedule import learning_rate
from explorer.training.toy_evaluation import evaluate
from explorer.training.trainer import Moment, Trainer
from tests.support.tiny_configs import TINY

LEARNING = replace(TINY, d_ff=32, steps=400, batch=32, rate=5e-3, warmup=20, evaluate_every=50)


def moments(trainer: Trainer) -> list[Moment]:
    return [moment for moment in trainer.run() if moment is not None]


@pytest.fixture(scope="module")
def learnt() -> tuple[Trainer, list[Moment]]:
    """A finished training with `LEARNING`, and its moments."""
    trainer = Trainer(LEARNING)
    return trainer, moments(trainer)


def test_a_tiny_model_learns_to_copy_and_attends_to_what_it_copies(learnt):
    trainer, reports = learnt
    assert [report.step for report in reports] == list(range(50, 401, 50))
    assert reports[-1].loss < 0.1 < reports[0].loss
    assert reports[-1].score > 0.98
    evaluation = evaluate(trainer.model, find_task(LEARNING.task), 4, 3, each=50)
    assert evaluation.exact_match > 0.98


def test_equal_configs_give_equal_weights():
    config = replace(LEARNING, steps=5, dropout=0.3)
    one = Trainer(config)
    list(one.run())
    other = Trainer(config)
    list(other.run())
    for ours, theirs in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    third = Trainer(replace(config, seed=1))
    assert not torch.equal(third.model.logits.weight, Trainer(config).model.logits.weight)


def test_evaluating_more_often_changes_nothing_that_is_learnt():
    often, seldom = (Trainer(replace(LEARNING, steps=6, evaluate_every=n)) for n in (1, 6))
    list(often.run())
    list(seldom.run())
    assert torch.equal(often.model.logits.weight, seldom.model.logits.weight)


def test_every_sequence_of_a_batch_goes_to_one_of_the_processes(monkeypatch):
    config = replace(TINY, batch=4)
    alone = Trainer(config)
    alone._learn()
    shares = [Trainer(config) for _ in range(3)]  # of two, one and one sequences
    monkeypatch.setattr(distributed, "world_size", lambda: 3)
    for rank, trainer in enumerate(shares):
        monkeypatch.setattr(distributed, "rank", lambda rank=rank: rank)
        trainer._learn()
    assert float(sum(share._losses for share in shares)) == pytest.approx(float(alone._losses))


def test_training_stops_early_at_the_exact_match():
    trainer = Trainer(replace(LEARNING, until=0.3, evaluate_every=10))
    reports = moments(trainer)
    assert reports[-1].score >= 0.3
    assert trainer.step < LEARNING.steps
    assert all(report.score < 0.3 for report in reports[:-1])
    assert trainer.checkpoint({}).facts["steps"] == trainer.step


@pytest.mark.parametrize(("bias", "loss"), [(math.nan, "nan"), (9.0, "10")])
def test_a_loss_far_above_that_of_a_uniform_guess_stops_the_training(bias, loss):
    """Of seven entries a uniform guess loses ln 7 = 1.9."""
    trainer = Trainer(replace(LEARNING, rate=1e-8))
    with torch.no_grad():
        trainer.model.logits.bias[0] = bias
    with pytest.raises(TrainingError, match=rf"step 50: loss {loss}.* 1\.9;.* \(1e-08\)"):
        moments(trainer)


def test_weights_that_the_last_step_broke_are_never_the_best():
    """The gradient of the fifth step is still good: only its loss on the sample is not."""
    trainer = Trainer(replace(LEARNING, evaluate_every=5))
    steps = trainer.run()
    for _ in range(4):
        next(steps)
    trainer.optimizer.param_groups[0]["eps"] = math.nan
    with pytest.raises(TrainingError, match="step 5: loss nan"):
        next(steps)
    assert trainer.best_loss == math.inf


def test_bfloat16_trains_too(monkeypatch):
    monkeypatch.setattr("explorer.training.trainer.computes_bfloat16", lambda device: True)
    reports = moments(Trainer(replace(LEARNING, precision="bfloat16", steps=60)))
    assert reports[-1].loss < reports[0].loss


def test_a_device_without_bfloat16_computes_in_float32(monkeypatch):
    def losses(precision, native):
        monkeypatch.setattr("explorer.training.trainer.computes_bfloat16", lambda device: native)
        trainer = Trainer(replace(LEARNING, precision=precision, steps=10, evaluate_every=5))
        return [moment.loss for moment in moments(trainer)]

    exact = losses("float32", native=True)
    assert losses("bfloat16", native=False) == exact
    assert losses("bfloat16", native=True) != exact


def test_label_smoothing_raises_the_loss_that_can_be_reached():
    plain, smooth = (Trainer(replace(LEARNING, label_smoothing=s, steps=50)) for s in (0.0, 0.5))
    assert moments(smooth)[-1].loss > moments(plain)[-1].loss


def test_the_gradient_is_clipped():
    """Adam divides by the gradient's size, so clipping shows in its running mean alone."""
    trainer = Trainer(replace(LEARNING, clip=1e-3, steps=1))
    moments(trainer)
    means = [state["exp_avg"].norm() for state in trainer.optimizer.state.values()]
    total = torch.stack(means).norm().item()
    assert total == pytest.approx((1 - 0.9) * 1e-3, rel=0.01)


def test_a_moment_contains_rate_gradients_gold_and_memory():
    trainer = Trainer(replace(LEARNING, steps=2, evaluate_every=1))
    moment = moments(trainer)[0]
    assert moment.step == 1
    assert set(moment.gradient_norms) >= {"encoder.layers.0", "decoder.layers.0"}
    total = math.sqrt(sum(norm**2 for norm in moment.gradient_norms.values()))
    assert moment.gradient_norm == pytest.approx(total)
    gold = moment.measured["gold"]
    assert [len(layer) for layer in gold] == [2]
    assert 0 < gold[0][0] < 1
    assert moment.memory > 50
    assert moment.tokens_per_second > 0


def test_gradient_norms_are_those_before_clipping():
    loud, quiet = (Trainer(replace(LEARNING, steps=1, clip=clip)) for clip in (1e6, 1e-6))
    assert moments(loud)[0].gradient_norms == pytest.approx(moments(quiet)[0].gradient_norms)


def test_a_batch_in_parts_learns_the_same():
    whole = moments(Trainer(replace(LEARNING, steps=20, evaluate_every=1)))
    parts = moments(Trainer(replace(LEARNING, steps=20, evaluate_every=1, accumulate=3)))
    losses = [[moment.loss for moment in way] for way in (whole, parts)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert losses[0][0] == pytest.approx(losses[1][0], rel=1e-6)


def test_without_the_causal_mask_the_loss_falls_and_decoding_collapses():
    leaky = Trainer(replace(LEARNING, causal=False, task="reverse", longest=4))
    last = moments(leaky)[-1]
    assert last.loss < 0.1
    assert last.score < 0.5


@pytest.mark.parametrize("stop", [3, 10, 17])
def test_a_resumed_training_gives_equal_results(stop):
    config = replace(LEARNING, steps=24, dropout=0.2, evaluate_every=5)
    uninterrupted = Trainer(config)
    expected = moments(uninterrupted)
    first = Trainer(config)
    seen = []
    for moment in first.run():
        seen += [moment] if moment else []
        if first.step == stop:
            break
    state = first.state()
    torch.manual_seed(99)  # whatever else happens meanwhile
    second = Trainer(config, state)
    seen += moments(second)
    assert [moment.step for moment in seen] == [moment.step for moment in expected]
    for ours, theirs in zip(seen, expected, strict=True):
        assert ours.loss == theirs.loss
        assert ours.measured == theirs.measured
    pairs = zip(second.model.parameters(), uninterrupted.model.parameters(), strict=True)
    assert all(torch.equal(ours, theirs) for ours, theirs in pairs)


def test_a_resumed_training_goes_on_with_the_rate_of_its_schedule():
    """`load_state_dict` would put a copy in place of the tensor that the schedule fills."""
    first = Trainer(replace(LEARNING, steps=6, evaluate_every=3))
    next(moment for moment in first.run() if moment is not None)
    second = Trainer(first.config, first.state())
    for step, _ in enumerate(second.run(), start=3):
        used = second.optimizer.param_groups[0]["lr"]
        assert used is second.rate
        assert float(used) == learning_rate(first.config, step)


def test_all_that_adam_has_stored_goes_where_the_weights_are():
    """Its `step`, too: fused Adam on a GPU refuses one on the CPU."""
    first = Trainer(replace(LEARNING, steps=2, evaluate_every=2))
    moments(first)
    second = Trainer(first.config)
    second.model.to("meta")  # stands for another device
    second._restore(first.state())
    for weight in second.model.parameters():
        stored = second.optimizer.state[weight]
        assert {name: value.device.type for name, value in stored.items()} == {
            "step": "meta",
            "exp_avg": "meta",
            "exp_avg_sq": "meta",
        }


def test_each_moment_has_the_held_out_loss_in_the_unit_of_the_training_loss():
    last = moments(Trainer(replace(LEARNING, label_smoothing=0.1)))[-1]
    assert last.line()["held_out_loss"] == pytest.approx(last.loss, abs=0.1)


def test_training_stops_when_its_patience_is_exhausted_and_marks_the_best_moment():
    trainer = Trainer(replace(LEARNING, patience=2, evaluate_every=5, rate=0.5, clip=1e6))
    reports = moments(trainer)
    assert trainer.step < LEARNING.steps
    losses = [report.measured["held_out_loss"] for report in reports]
    best = max(number for number, report in enumerate(reports) if report.best)
    assert losses[best] == min(losses) == trainer.best_loss
    assert best == len(reports) - 3
    assert [report.best for report in reports] == [
        loss < min(losses[:number], default=math.inf) for number, loss in enumerate(losses)
    ]


def test_averaged_weights_are_evaluated_and_saved_and_the_others_trained(learnt):
    averaged = Trainer(replace(LEARNING, average=50))
    ours, theirs = moments(averaged), learnt[1]
    assert [moment.loss for moment in ours] == [moment.loss for moment in theirs]
    assert ours[0].measured["held_out_loss"] > theirs[0].measured["held_out_loss"]
    assert ours[-1].score > 0.98
    assert averaged.checkpoint({}).model is averaged.averaged
    weight, average = averaged.model.logits.weight, averaged.averaged.logits.weight
    assert 0 < (weight - average).norm() < 0.1 * weight.norm()


def test_the_average_is_exponential_over_the_steps_asked_for():
    trainer = Trainer(replace(LEARNING, average=20, steps=40, evaluate_every=40))
    expected = trainer.model.logits.weight.detach().clone()
    for _ in trainer.run():
        if trainer.step % 10 == 0:
            share = 1 / (1 + min(20, trainer.step) / 10)
            expected += share * (trainer.model.logits.weight.detach() - expected)
    torch.testing.assert_close(trainer.averaged.logits.weight.detach(), expected)


@pytest.mark.parametrize("stop", [7, 20])
def test_a_resumed_training_restores_its_average_and_patience(stop):
    config = replace(LEARNING, average=20, patience=3, steps=30, evaluate_every=5, rate=0.2)
    uninterrupted = Trainer(config)
    expected = moments(uninterrupted)
    first = Trainer(config)
    for _ in first.run():
        if first.step == stop:
            break
    second = Trainer(config, first.state())
    later = moments(second)
    assert [moment.best for moment in expected][-len(later) :] == [m.best for m in later]
    assert second.step == uninterrupted.step
    assert torch.equal(second.averaged.logits.weight, uninterrupted.averaged.logits.weight)


def test_the_betas_are_those_of_adams_running_means():
    """After one step each mean holds (1 − β) of the gradient, or of its square."""
    one, other = (
        Trainer(replace(LEARNING, steps=1, clip=1e6, beta1=b1, beta2=b2))
        for b1, b2 in ((0.9, 0.98), (0.5, 0.9))
    )
    moments(one)
    moments(other)
    for ours, theirs in zip(
        one.optimizer.state.values(), other.optimizer.state.values(), strict=True
    ):
        torch.testing.assert_close(5 * ours["exp_avg"], theirs["exp_avg"])
        torch.testing.assert_close(5 * ours["exp_avg_sq"], theirs["exp_avg_sq"])
