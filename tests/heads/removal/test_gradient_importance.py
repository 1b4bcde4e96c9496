import pytest
import torch

from explorer.heads.metrics.evaluation_batches import task_sentences, token_losses
from explorer.heads.removal.gradient_importance import gate_gradients, importance


def loss_of(explorable, one, gates) -> float:
    """The mean loss of a token of one sentence, in double precision."""
    with torch.no_grad():
        losses = token_losses(explorable.passes.logits(one, gates), one.labels)
    return (losses.sum() / one.labels.real.sum()).item()


def test_gradients_equal_central_differences(explorable):
    """Each gate of each sentence, one at a time."""
    explorable.transformer.double()
    step, heads = 1e-5, len(explorable.passes.heads)
    try:
        torch.set_default_dtype(torch.float64)
        for part in task_sentences(explorable, 4).parts():
            gradients = gate_gradients(explorable, part)
            for number, one in enumerate(part.parts(1)):
                for head in range(heads):
                    up, down = torch.ones(2, 1, heads)
                    up[0, head] += step
                    down[0, head] -= step
                    slope = loss_of(explorable, one, up) - loss_of(explorable, one, down)
                    own = gradients[number, head].item()
                    assert own == pytest.approx(slope / (2 * step), abs=1e-6)
    finally:
        torch.set_default_dtype(torch.float32)


def test_importance_is_the_mean_over_sentences_of_absolute_gradients(explorable):
    batch = task_sentences(explorable, 30)
    slopes = [gate_gradients(explorable, one).abs().flatten() for one in batch.parts(1)]
    table = importance(explorable, batch)
    expected = torch.stack(slopes).mean(0).tolist()
    assert table.importance.tolist() == pytest.approx(expected, rel=1e-3, abs=1e-7)
    assert (table.importance > 0).all()
    assert (table.importance_low <= table.importance).all()
    assert (table.importance <= table.importance_high).all()


@torch.no_grad()
def test_importance_works_without_grad_mode_and_sets_no_gradients(explorable):
    shares: list[float] = []
    table = importance(explorable, explorable.passes.texts(["1 2", "甲"], "x"), shares.append)
    assert (table.importance > 0).all()
    assert shares[-1] == 1
    assert all(weight.grad is None for weight in explorable.transformer.parameters())
